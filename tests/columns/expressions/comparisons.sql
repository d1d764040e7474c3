{i8;i16;i32;i64;f32;f64;d;dw;dn} {=;<} {i8;i16;i32;i64;f32;f64;d;dw;dn}
{da;ts;nz} {<=;>} {da;ts;nz}
{i8;i16;i32;i64;f32;f64;d;dw;dn;s;bo;da;ts;nz;bi;st} IS NULL
{i8;i16;i32;i64;f32;f64;d;dw;dn;s;bo;da;ts;nz;bi;st} = NULL
sn {=;>} {i8;i16;i32;i64}
{f32;f64;d;dw;dn} {=;<;>=} sv
sd {=;<>;<;<=>} da
{ts;nz} {=;<} '2020-01-31 01:02:03.456789'
i8 {<=>;>=} i8
i16 {<=>;>=} i16
i32 {<=>;>=} i32
i64 {<=>;>=} i64
f32 {<=>;>=} f32
f64 {<=>;>=} f64
d {<=>;>=} d
dw {<=>;>=} dw
dn {<=>;>=} dn
s {<=>;>=} s
bo {<=>;>=} bo
da {<=>;>=} da
ts {<=>;>=} ts
nz {<=>;>=} nz
bi {<=>;>=} bi
st {<=>;>=} st
sb = bo
bo < sb
s = bi
bi < s
s < w
s == w
bi <> X'616263'
bo < TRUE
f64 = u
f64 IS DISTINCT FROM f32
i32 IS NOT DISTINCT FROM i64
f64 BETWEEN 0 AND 2
f64 NOT BETWEEN -1 AND 1.5
x BETWEEN '0' AND 2.5
da BETWEEN '2020-01-01' AND ts
x IN (1, 2, NULL)
x IN (1, 2)
x NOT IN (1, 5)
x NOT IN (1, NULL)
x IN (NULL)
x IN (y, 5, 2.5)
x IN ('1', 5)
f64 IN (float('nan'), 0)
NULL IN (x, 1)
s IN ('abc', 'z')
da IN ('2020-01-31')
dw IN (dn)
dw BETWEEN dn AND dn
NULL = NULL
NULL <=> NULL
x <=> NULL
st = st
(x, y) = (x, 3)
(x, y) = (k, k)
(x, y) < (k, k)
(x, NULL) = (x, NULL)
(st.a, x) = (1, 1)
(x, s) <=> (x, s)
struct(x, s) >= struct(y, s)
(1, 2) = (1L, 2S)
(1, 1) = (1, cast(1 AS DECIMAL(12,2)))
(1, date(da)) = (1, timestamp(ts))
(1, 1.5) IN ((1, 22.55))
(1, 1) IN ((1, '1'))
(1, (x, y)) = (1, (x, y))
(x, y) IN ((1, 2), (5, -1))
(1, NULL) IN ((1, 2), (3, 4))
x = 1.5
i64 > 1e0
i32 = i64 = bo
NOT (x = y)
x != y
ts - t2 > INTERVAL '1' DAY
t2 > ts - INTERVAL 5 MINUTES
INTERVAL '12' MONTH = INTERVAL '1' YEAR
INTERVAL '25' HOUR > INTERVAL '1' DAY
