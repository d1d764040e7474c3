bo AND x > 0
bo OR x > 0
NOT bo
!bo
bo AND NULL
bo OR NULL
NOT NULL
sb AND bo
bo IS TRUE
bo IS NOT TRUE
bo IS FALSE
bo IS NOT FALSE
bo IS UNKNOWN
sb IS TRUE
isnull(x)
isnotnull(x)
x IS NOT NULL
isnan(f64)
isnan(f32)
isnan(x)
isnan(sv)
isnan(NULL)
x <> 0 AND 10 / x > 1
x = 0 OR 10 / x > 1
CASE WHEN x <> 0 THEN 10 / x END
CASE WHEN x = 0 THEN NULL ELSE 10 % x END
CASE x WHEN 1 THEN 'one' WHEN y THEN 'same' ELSE s END
CASE x WHEN '1' THEN 1 END
CASE WHEN bo THEN x ELSE 2.5 END
CASE WHEN bo THEN x WHEN x > 0 THEN m END
CASE WHEN bo THEN f32 ELSE i64 END
CASE WHEN bo THEN da ELSE ts END
CASE WHEN bo THEN nz ELSE ts END
CASE WHEN bo THEN p ELSE m END
CASE WHEN bo THEN NULL ELSE x END
CASE WHEN bo THEN NULL END
CASE WHEN FALSE THEN 1 / 0 ELSE 1 END
CASE NULL WHEN NULL THEN 1 ELSE 2 END
CASE WHEN TRUE THEN 1 ELSE 'x' END
CASE WHEN x IS NULL THEN 1 ELSE cast(sn AS BIGINT) END
IF(bo, x, y)
IF(NULL, 1, 2)
IF(bo, 1, 2.5)
IF(x = 0, 0, 10 div x)
IF(bo, st, NULL)
coalesce(x, y, 0)
coalesce(x, 2.5)
coalesce(NULL, sn, 1)
coalesce(1, 2.5, '5')
coalesce(NULL, NULL)
coalesce(st, named_struct('a', 1, 'B', 'n'))
coalesce(dn, dw)
nvl(x, m)
ifnull(s, 'none')
nullif(x, 1)
nullif(x, m)
nullif(f64, float('nan'))
nullif(s, 'abc')
nullif(NULL, 1)
nvl2(x, 'there', 'gone')
nvl2(x, 1, 2.5)
nvl2(x, y, m)
least(x, y)
least(x, NULL, m)
greatest(x, y, p)
greatest(f64, u)
least(f64, u)
greatest(f32, 0)
least(s, w)
greatest(da, ts)
least(bo, TRUE)
greatest(NULL, NULL)
greatest(-0.0D, f64)
greatest(st, named_struct('a', 1, 'B', 'x'))
st.a
st.b
(st).B
st['B']
named_struct('a', x).a + 1
equal_null(x, y)
NULL + 1 / 0
x + (10 / (CASE WHEN x IS NULL THEN 0 ELSE 1 END))
(10 / (CASE WHEN y IS NULL THEN 0 ELSE 1 END)) / y
x = CASE WHEN x IS NULL THEN cast('a' AS INT) END
(CASE WHEN x IS NULL THEN 1 END) = s
x IN (0, 10 / x)
sb AND (sb AND bo)
bo AND sb AND sb
NULL AND bo
