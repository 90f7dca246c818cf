package javarand

import "math"

// Log is the natural logarithm of a finite positive normal x as Java's StrictMath computes it, to the last
// bit on every processor: products are rounded before they are added, so that no fused multiply-add is used.
//
// Method and coefficients: fdlibm's log (Copyright 1993 by Sun Microsystems, Inc.; freely usable with this
// notice preserved). x = 2^k (1+f) with 1+f near 1, log(1+f) from a polynomial in s = f/(2+f).
func Log(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
	)
	b := math.Float64bits(x)
	hi := int32(b >> 32)
	k := hi>>20 - 1023
	hi &= 0xfffff
	up := (hi + 0x95f64) & 0x100000 // set when the mantissa is above about sqrt 2: halve it and count one more
	f := math.Float64frombits(uint64(uint32(hi|(up^0x3ff00000)))<<32|b&0xffffffff) - 1
	k += up >> 20
	kHi, kLo := float64(k)*ln2Hi, float64(k)*ln2Lo

	if 0xfffff&(2+hi) < 3 { // |f| below 2^-20
		if f == 0 {
			return kHi + kLo
		}
		r := float64(f*f) * (0.5 - float64(0.33333333333333333*f))
		if k == 0 {
			return f - r
		}
		return kHi - ((r - kLo) - f)
	}

	s := f / (2 + f)
	r := logPoly(float64(s * s))
	if (hi-0x6147a)|(0x6b851-hi) > 0 {
		h := float64(float64(0.5*f) * f)
		if k == 0 {
			return f - (h - float64(s*(h+r)))
		}
		return kHi - ((h - (float64(s*(h+r)) + kLo)) - f)
	}
	if k == 0 {
		return f - float64(s*(f-r))
	}
	return kHi - ((float64(s*(f-r)) - kLo) - f)
}

// logPoly is the even polynomial of fdlibm's log in z = s².
func logPoly(z float64) float64 {
	const (
		l1 = 6.666666666666735130e-01
		l2 = 3.999999999940941908e-01
		l3 = 2.857142874366239149e-01
		l4 = 2.222219843214978396e-01
		l5 = 1.818357216161805012e-01
		l6 = 1.531383769920937332e-01
		l7 = 1.479819860511658591e-01
	)
	w := float64(z * z)
	t1 := float64(w * (l2 + float64(w*(l4+float64(w*l6)))))
	t2 := float64(z * (l1 + float64(w*(l3+float64(w*(l5+float64(w*l7)))))))
	return t2 + t1
}
