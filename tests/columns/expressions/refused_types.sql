x = bo
da = x
ts < m
bi = x
bo < da
st = x
(1, 2) = ('1', 2)
(x, y) = (m, y)
(x, y) = (1, 2, 3)
(1, 1.5) = (1, 1.50)
(1, 1) = (1, 1.5)
(1, s) = (1, bi)
x IN (1, TRUE)
INTERVAL '1' DAY < INTERVAL '1' MONTH
INTERVAL '1' DAY = x
s = INTERVAL '1' DAY
x AND bo
NOT x
x IS TRUE
da IS TRUE
CASE WHEN x THEN 1 END
CASE WHEN sb THEN 1 END
CASE WHEN NULL THEN 1 END
CASE WHEN bo THEN 1 ELSE TRUE END
IF(x, 1, 2)
coalesce(x, bo)
coalesce(INTERVAL '1' DAY, INTERVAL '1' MONTH)
nullif(x, bo)
least(s, x)
least(x)
greatest(da, s)
bo + 1
-bo
-da
s + s
sn / sn
'1' % '2'
'1' div 2.5
u div 2
f32 div 2
da div 2
da * 2
ts + 1
da + m
da + 1.5
da + '1'
da + da
'x' + da
INTERVAL '1' DAY + 1
1 + INTERVAL '1' DAY
INTERVAL 1 DAY - da
INTERVAL '1' DAY + INTERVAL '1' MONTH
INTERVAL '1' DAY % 2
'2020-01-01' + INTERVAL '1' MONTH
INTERVAL '1 month 2 days'
INTERVAL 1 QUARTER
INTERVAL '1.5' DAY
INTERVAL 'x' DAY
INTERVAL 1 MONTH 2 DAYS
x & bo
p & 1
~bo
~u
abs(bo)
abs(da)
sign(bo)
floor(bo)
round(bo)
round(p, x)
sqrt(bo)
power(bo, 1)
isnan(bo)
isnan(da)
ln(da)
cast(x AS DATE)
cast(da AS INT)
cast(nz AS BIGINT)
cast(x AS TIMESTAMP_NTZ)
cast(bo AS DATE)
cast(da AS BOOLEAN)
cast(ts AS BOOLEAN)
cast(bo AS TIMESTAMP)
cast(bi AS INT)
cast(x AS BINARY)
try_cast(x AS DATE)
length((x, y))
left(s, bo)
substring(s, bo, 1)
substring(s, da)
upper(st)
st LIKE 'a'
year(x)
year(bo)
hour(x)
quarter(x)
weekday(x)
date_trunc('day', x)
add_months(x, 1)
date_add(x, 1)
date_add(da, m)
date_add(da, 1.5)
unix_micros(da)
unix_date(ts)
timestamp_micros(p)
timestamp_seconds('5')
datediff(x, da)
x.a
st.zzz
{sb;NULL;'true'} {AND;OR} sb
sb {AND;OR} {NULL;'text'}
sb AND sb AND bo
x << {bo;da}
{bo;da} >> 1
INTERVAL '{100:60' HOUR TO MINUTE;1 24:00:00' DAY TO SECOND;1 00:60' DAY TO MINUTE;1:60' MINUTE TO SECOND;1-12' YEAR TO MONTH}
unix_{seconds;millis;micros}('2020-01-01')
