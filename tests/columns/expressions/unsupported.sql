md5(s)
hash(x)
rand()
cast(u AS STRING)
'a' 'b'
s LIKE ANY ('a', 'b')
array(1)[0]
to_date(s, 'yyyy')
s RLIKE '(a)\\1'
s RLIKE 'a(?=b)'
make_interval(1)
reverse(s)
date_trunc('nonsense', ts)
s RLIKE '[a-z&&[^b]]'
INTERVAL '{1' DAY;1' MONTH} || 'x'
cast(INTERVAL '{1' DAY;1' MONTH} AS {STRING;INT;DECIMAL(5,1)})
to_date(s, 'yyyy-MM-dd')
extract(HOUR FROM INTERVAL '1' DAY)
date_part('month', INTERVAL '1' MONTH)
