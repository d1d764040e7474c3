s || s
s || x
concat(s, '-', x, bo, da, p)
concat(s, NULL)
concat(s)
concat(bi, X'00')
concat(bi, 'b') IS NULL
ts || ''
NULL || 'a'
upper(s)
lower(s)
ucase(s)
lcase(s)
upper(x)
lower(NULL)
lower('ΑΣ')
upper('ŉﬁß')
lower('İ')
trim(s)
ltrim(s)
rtrim(s)
btrim(s)
trim(BOTH 'a' FROM s)
trim(LEADING 'ab' FROM s)
trim(TRAILING 'c' FROM s)
btrim(s, 'abc')
trim('za', s)
ltrim('a', s)
trim(BOTH w FROM s)
trim(BOTH '' FROM s)
trim(x)
trim('\ta\n')
length(s)
char_length(s)
len(s)
length(bi)
length(x)
length(NULL)
octet_length(s)
substring(s, 2)
substring(s, 1, 2)
substring(s, 0, 2)
substring(s, -3, 2)
substring(s, -2)
substring(s, k)
substring(s, k, 2)
substring(s, 2, k)
substring(s, k, k)
substr(s, '2', 1)
substring(s, 2L, 1)
substring(s, 1.5, 2)
substring(bi, 2, 1)
substring(bi, -1)
substring(s, 2147483647, 2)
substring(s, -2147483648, 2)
substring(s, 2, 2147483647)
substring(12345, 2, 2)
substring(s FROM 2 FOR 3)
substring(s, NULL, 1)
substring(NULL, 1)
substring('hello', -10, 7)
left(s, 2)
left(s, k)
left(s, 0)
left(bi, 1)
right(s, 2)
right(s, k)
right(s, 0)
right(s, 100)
right(X'616263', 2)
left(12345, '2')
right(s, NULL)
replace(s, 'b', 'x')
replace(s, 'b')
replace(s, '', 'x')
replace(s, s, w)
replace(s, w, '-')
replace(s, NULL, 'x')
replace('aaa', 'aa', 'b')
replace(121, 1, 3)
contains(s, 'b')
contains(s, '')
contains(s, w)
contains(bi, X'61')
contains(123, 2)
contains(s, NULL)
startswith(s, 'a')
startswith(s, w)
startswith(s, s)
endswith(s, 'c')
endswith(s, right(s, 2))
startswith(bi, X'61')
endswith(s, '')
instr(s, 'b')
instr(s, 'x')
instr(s, '')
instr(s, w)
instr(s, right(s, 1))
locate('b', s)
locate('c', s, 4)
locate('b', s, 0)
locate('b', s, -1)
locate('', s, 2)
locate('', s, 10)
locate('b', s, k)
locate('b', s, NULL)
locate(NULL, s, 0)
position('b' IN s)
position('c', s, 4)
locate('x', s, 3)
s LIKE 'a%'
s LIKE 'a_c'
s LIKE '%b%'
s NOT LIKE 'a%'
s LIKE ''
s LIKE '%'
s LIKE w
s NOT LIKE w
s LIKE '%ß%'
s LIKE '😀_%'
s LIKE 'a\%b%'
s LIKE '%\_c%'
s LIKE 'a!%b!_c%' ESCAPE '!'
s NOT LIKE 'a!%%' ESCAPE '!'
s LIKE NULL
NULL LIKE s
s LIKE '%\\\\d'
s LIKE r'%\\d'
s LIKE '%.%'
x LIKE '1%'
s ILIKE 'AB%'
s NOT ILIKE '%STRASSE%'
s ILIKE '%STRAßE%'
s ILIKE w
'É' ILIKE 'é'
like(s, 'a%')
s LIKE '(abc)'
s LIKE '[a]%'
s RLIKE 'b'
s RLIKE '^a'
s RLIKE 'c$'
s RLIKE 'a.*c'
s RLIKE '(?i)ABC'
s RLIKE '[xz]'
s REGEXP '^$'
regexp_like(s, 'b+')
s NOT RLIKE 'b'
s RLIKE NULL
'a\n' RLIKE 'a$'
'é' RLIKE '\\w'
'a\nb' RLIKE 'a.b'
'a\rb' RLIKE 'a.b'
'a\nb' RLIKE '(?s)a.b'
'a1' RLIKE '\\d'
regexp(s, 'z')
'a.b' RLIKE 'a\\.b'
s RLIKE '\\Qa%\\E'
{upper;lower}(cast(bi AS STRING))
cast(bi AS STRING) ILIKE '%A%'
