{year;quarter;month;day;dayofmonth;dayofweek;weekday;dayofyear;weekofyear;hour;minute;second}({da;ts;nz})
extract({YEAR;QUARTER;MONTH;DAY;DOW;DOY;WEEK;HOUR;MINUTE;SECOND;DAYOFWEEK_ISO} FROM {ts;da})
date_trunc('{microsecond;MILLISECOND;second;minute;hour;day;DD;week;month;mon;MM;quarter;year;YYYY;yy}', {ts;nz})
trunc({da;ts}, '{week;month;MM;quarter;year;yy;day;nonsense}')
timestampdiff({MICROSECOND;MILLISECOND;SECOND;MINUTE;HOUR;DAY;WEEK;MONTH;QUARTER;YEAR}, ts, t2)
timestampadd({MICROSECOND;MILLISECOND;SECOND;MINUTE;HOUR;DAY;WEEK;MONTH;QUARTER;YEAR}, k, {DATE '2020-02-29';TIMESTAMP_NTZ '2020-01-31 01:02:03'})
year(sd)
hour('2020-01-01 05:06:07')
year(NULL)
hour(NULL)
date_part('hour', ts)
date_part('SECOND', nz)
date_trunc('day', da)
date_trunc('month', '2020-05-05 01:00:00')
trunc(sd, 'MM')
da + 1
1 + da
da - 1S
da - k
da + x
da - d2
da - ts
ts - da
ts - t2
nz - ts
nz - nz
da - '2020-01-01'
'2020-01-02' - da
ts - '2020-01-01 05:00:00'
da - NULL
NULL - da
da + NULL
NULL + da
ts + NULL
ts - NULL
NULL - ts
da + INTERVAL 1 DAY
da - INTERVAL 1 WEEK
da + INTERVAL 1 HOUR
da + INTERVAL 1 DAY 2 HOURS
da + INTERVAL '1 day'
da + INTERVAL '24 hours'
da + INTERVAL '1' DAY * 2
da + (INTERVAL '1' DAY + INTERVAL '2' DAY)
da - (-INTERVAL '1' DAY)
INTERVAL 1 DAY + da
da + INTERVAL 1 MONTH
da - INTERVAL 1 MONTH
da + INTERVAL '1' YEAR
da + INTERVAL '1-1' YEAR TO MONTH
da - INTERVAL '13' MONTH * 2
ts + INTERVAL 1 MONTH
ts - INTERVAL 1 YEAR
nz + INTERVAL '1 year 2 months'
INTERVAL 1 MONTH + ts
INTERVAL '1' MONTH + da
da + INTERVAL '0' MONTH
ts - INTERVAL '-1' MONTH
da + 2 * INTERVAL '1' MONTH
da + INTERVAL '3' MONTH / 2
da + (INTERVAL '1' YEAR - INTERVAL '1' MONTH)
da + -INTERVAL '1' MONTH
ts + INTERVAL 5 MINUTES
ts - INTERVAL '5' SECOND
ts - INTERVAL '1.5' SECOND
ts + INTERVAL '1 day 2 hours'
ts - INTERVAL 1 DAY 2 HOURS
nz - INTERVAL '1 02:03:04.5' DAY TO SECOND
nz + INTERVAL 1 DAY
ts + x * INTERVAL '1' HOUR
ts + (ts - t2) / 2
'2020-01-01' + INTERVAL '1' DAY
'2020-01-01' - INTERVAL '1' DAY
INTERVAL '1' DAY + NULL
NULL + INTERVAL '1' DAY
date_add(da, 1)
date_add(da, k)
date_add(da, 1S)
date_add(da, '1')
date_add(ts, 1)
date_add('2020-01-01', 1)
date_sub(da, 1)
date_sub(da, k)
date_sub(nz, 1)
date_sub(da, '1')
date_sub(da, 1S)
date_add(da, NULL)
dateadd(da, 3)
add_months(da, 1)
add_months(da, -2)
add_months(da, k)
add_months(ts, 12)
add_months(da, '1')
add_months(da, 1L)
add_months(DATE '2020-02-29', 12)
last_day(da)
last_day(ts)
datediff(da, d2)
datediff(ts, da)
datediff(sd, '2020-01-01')
date_diff(da, ts)
datediff(DAY, da, ts)
datediff(HOUR, da, t2)
datediff(MONTH, da, t2)
datediff(NULL, da)
timestampdiff(MINUTE, da, nz)
timestampadd(MINUTE, 5L, TIMESTAMP '2020-01-31 01:02:03')
timestampadd(SECOND, 1.5, TIMESTAMP '2020-01-31 01:02:03')
dateadd(DAY, 1, d2 - 1)
to_date(ts)
to_date(sd)
to_date(nz)
to_timestamp(da)
to_timestamp('2020-01-01 01:02:03.5')
to_timestamp(m)
to_timestamp(nz)
to_timestamp_ntz(da)
unix_micros(ts)
unix_micros(nz)
unix_millis(ts)
unix_seconds(ts)
unix_timestamp(ts)
unix_timestamp(da)
unix_timestamp(nz)
unix_timestamp('2020-01-01 00:00:00')
to_unix_timestamp(ts)
unix_date(da)
timestamp_micros(m)
timestamp_millis(m)
timestamp_seconds(m)
timestamp_seconds(u)
timestamp_seconds(p)
timestamp_micros(x)
date_from_unix_date(x)
date_from_unix_date(m)
da {+;-} (da - DATE '2020-01-31')
(da - DATE '2020-01-31') + DATE '2020-01-31'
DATE '2020-01-31' + {-(da - DATE '2020-02-01');abs(da - da);(da - da) + INTERVAL '1' DAY;(da - da) * 2;(da - NULL)}
DATE '2020-01-31' + {coalesce(da - da, INTERVAL '1' DAY);coalesce(da - da, INTERVAL '1' HOUR);greatest(da - da, INTERVAL '1' DAY)}
DATE '2020-01-31' + {CASE WHEN bo THEN da - da ELSE INTERVAL '2' DAY END;if(bo, da - da, NULL);CASE WHEN bo THEN ts - ts END}
DATE '2020-01-31' + (ts - DATE '2020-01-31')
