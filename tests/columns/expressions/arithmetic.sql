{x;m;u;p;q;1.5;2;-3L} {+;-;*;/;%} {y;v;q;2;0.25;7BD}
pmod({x;m;u;p;-5;-5.5}, {y;v;3;-3;2.5})
{x;m;p;q;-7} div {y;q;2;0.3}
i8 + 0Y
i8 & 15
k + 1
1Y + 1S
f32 + f32
f32 * 2
f32 + f64
f32 / 2
f64 - f64
f64 * 0
f64 + i64
i64 + 0.5
i64 * 0.5
dw * p
dw + p
dw / 3
dw / q
dn * 0.1
dw * dw
dw % 2
dn % 7
dn div 3
dw - dw
p * (5)
p * -5
p + 5
p + 100L
p / 3
3 / q
p - x
-x
-u
-p
-f64
-sv
-NULL
- - 5
-(x + 1)
+x
negative(x)
positive(x)
x + NULL
NULL + NULL
NULL * p
NULL / NULL
NULL div NULL
NULL % x
sn + 0
sn - 0L
2D * sv
sv / 2D
1.5 * sv
'7' % 2
'7' div 2
10 / '4'
mod(x, y)
x * y + m
(x + y) * m
x - y - m
x / y / 2
i64 % 10
i64 % -1L
i64 div 2
i8 % 5
pmod(i8, 7Y)
pmod(i64, 3)
pmod(i16, -7S)
f64 % 2
f32 % 0.7F
x & y
x | y
x ^ y
~x
~i8
i8 | 1S
m & 255
'5' & 3
x & NULL
~NULL
x << 2
m << 40
i32 >> 1
1 << 33
shiftleft(1Y, 3)
shiftright(i64, 2)
1 << -1
abs(x)
abs(p)
abs(f64)
abs(dn)
abs(sv)
abs(NULL)
sign(x)
sign(f64)
sign(p)
sign(i64)
signum(u)
floor(u)
floor(p)
floor(x)
floor(dn)
floor(u + 0.5)
floor(p, 1)
floor(p, -1)
floor(u, 2)
floor(x, -1)
floor(m, -2)
floor(f32 - f32)
floor('2.55', 1)
ceil(u)
ceil(p)
ceiling(x)
ceil(p, 2)
ceil(p, -2)
ceil(x, -1)
ceil(dw)
floor(dw)
ceil(1.5F)
floor(NULL)
ceil(-0.5D)
round(u)
round(u, 1)
round(u, 2)
round(u, -1)
round(f64, 2)
round(f32, 1)
round(1.15F, 1)
round(1.45F, 1)
round(p)
round(p, 1)
round(p, 2)
round(p, 5)
round(p, -2)
round(x)
round(x, -1)
round(m, -2)
round(x, 2)
round(i8 div 10, -1)
round(dn, -1)
round(dw, 17)
round(sv, 1)
round(NULL)
round(5.55, -5)
round(5.5D, 400)
round(2.5D, 1 - 1)
round(123456789.987654321D, 5)
round(1e22D / 7, -3)
round(0.49999999999999994D)
round(4503599627370497.5D)
sqrt(x)
sqrt(u)
sqrt(p)
sqrt(sv)
sqrt(NULL)
log10(abs(m) + 1) >= 0
power(x, 2)
pow(2L, 10)
power(1, v)
power(v, 0)
power(-1, v)
power(0, -1)
power(-8, 1 / 3)
power(-1D, double('inf'))
ln(0)
ln(-1)
ln(x) IS NULL
log(0, 8)
log(-1, 8)
log(2, 8)
log2(8)
log10(1000)
log(1, 8)
exp(0)
exp(1000)
x * INTERVAL '1' SECOND
INTERVAL '1' DAY * 2.5
INTERVAL '1' DAY / 3
INTERVAL '7' SECOND / y
INTERVAL '1' SECOND * 1.2345678
INTERVAL '1' SECOND * u
INTERVAL '1' SECOND / q
INTERVAL '1' DAY * NULL
INTERVAL '5' DAY div INTERVAL '2' DAY
INTERVAL '1' SECOND * '2'
pmod(p, q)
pmod(m, p + 1000)
NULL / {p;q;dn}
nullif(NULL, 1) / p
CAST(NULL AS INT) / p
-CAST('{12345678901234567890123456789012345678;-12345678901234567890123456789012345678}' AS DECIMAL(38,0))
abs(CAST('{12345678901234567890123456789012345678;-12345678901234567890123456789012345678}' AS DECIMAL(38,0)))
-CAST('{1234567890123456789012345678901234.5;1234567890123456789012345678901235.5;0.25}' AS DECIMAL(38,3))
-(CAST(p AS DECIMAL(38,10)) + 12345678901234567890123456.5)
{x;m} {<<;>>} {1e2;1.5;'2';u;p}
{u;p;'5'} << 1
