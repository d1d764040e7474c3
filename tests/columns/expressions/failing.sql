x / 0
u / 0
p / 0
x % 0
u % 0
p % 0
x div 0
pmod(x, 0)
10 / x
i8 + 1Y
i16 - 1S
i32 + 1
i64 - 1
i64 * 2
i32 * 2
-i32
-i64
-i8
abs(i8)
abs(i64)
i64 div -1
-(-128Y)
dw + dn
pmod(-5, q)
2 * sv
dn * 10000000000
dn * dn
INTERVAL '1' DAY / 0
INTERVAL '106751991' DAY * 2
TIMESTAMP '9999-12-31 00:00:00' + INTERVAL '106751990' DAY
DATE '2020-01-01' + INTERVAL '2147483647' MONTH
add_months(da, 2147483647)
floor(1e300D)
floor(f64)
ceil(f64)
round(i8, -1)
round(i32, -1)
cast(i32 AS TINYINT)
cast(f64 AS INT)
cast(u AS TINYINT)
cast(d AS TINYINT)
cast(d AS DECIMAL(4,2))
cast(m AS DECIMAL(2,0))
cast(u AS DECIMAL(3,1))
cast(5 AS DECIMAL(3,3))
cast(s AS INT)
cast(s AS DOUBLE)
cast(s AS DECIMAL(5,2))
cast(s AS DATE)
cast(s AS TIMESTAMP)
cast(s AS BOOLEAN)
cast(f64 AS TIMESTAMP)
cast('9.5' AS INT)
s = 1
s < da
x IN ('a')
NOT s
sv + 1
s + 1.5
CASE WHEN x > 0 THEN cast(s AS INT) ELSE 1 END
coalesce(x, cast(s AS INT), 1 / 0)
s LIKE 'a!b' ESCAPE '!'
s LIKE 'a\\b'
s LIKE 'a\\'
to_date('2020-13-01')
to_timestamp('x')
unix_timestamp('2020-01-01')
timestamp_seconds(1.1234567)
timestamp_millis(9223372036854775807L)
timestampadd(DAY, 9223372036854775807L, TIMESTAMP '2020-01-01 00:00:00')
-CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0))
1 << 1e10
1 << 'x'
ceil('9223372036854775807')
floor(9223372036854775807D)
