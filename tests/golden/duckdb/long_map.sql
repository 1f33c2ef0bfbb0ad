-- policy: golden
-- digest: sha256:dc891658c6056bfbaebcbfba43e40c2f86c6b191e3d2c0044eccde142c7e573a
WITH sampled AS NOT MATERIALIZED (
  SELECT "zip"
  FROM READ_PARQUET('people.parquet', file_row_number = TRUE) JOIN (SELECT policy_engine_block, policy_engine_bits FROM "policy_engine_sample_400000000000000") AS policy_engine_drawn ON policy_engine_block = file_row_number >> 12
  WHERE GET_BIT(policy_engine_bits, CAST(file_row_number % 4096 AS INTEGER)) = 1
), counted AS NOT MATERIALIZED (
  SELECT "zip", COUNT(*) AS policy_engine_count
  FROM sampled
  GROUP BY "zip"
), "policy_engine_lookup_1" AS NOT MATERIALIZED (
  SELECT policy_engine_key COLLATE "binary" AS "policy_engine_key_1", MIN(policy_engine_label) AS "policy_engine_label_1", 1 AS "policy_engine_found_1"
  FROM (WITH policy_engine_listed (policy_engine_key, policy_engine_label) AS (VALUES
    ('10000', 'north'), ('10001', 'north'), ('10002', 'north'), ('10003', 'north'), ('10004', 'north'), ('10005', 'north'), ('10006', 'north'), ('10007', 'north'), ('10008', 'north'), ('10009', 'north'), ('10010', 'north'), ('10011', 'north'), ('10012', 'north'), ('10013', 'north'), ('10014', 'north'), ('10015', 'north'), ('10016', 'north'), ('10017', 'north'), ('10018', 'north'), ('10019', 'north'), ('10020', 'north'), ('10021', 'north'), ('10022', 'north'), ('10023', 'north'), ('10024', 'north'), ('10025', 'north'), ('10026', 'north'), ('10027', 'north'), ('10028', 'north'), ('10029', 'north'), ('10030', 'north'), ('10031', 'north'), ('10032', 'north'), ('10033', 'north'), ('10034', 'north'), ('10035', 'north'), ('10036', 'north'), ('10037', 'north'), ('10038', 'north'), ('10039', 'north'), ('10040', 'north'), ('10041', 'north'), ('10042', 'north'), ('10043', 'north'), ('10044', 'north'), ('10045', 'north'), ('10046', 'north'), ('10047', 'north'), ('10048', 'north'), ('10049', 'north'), ('10050', 'north'), ('10051', 'north'), ('10052', 'north'), ('10053', 'north'), ('10054', 'north'), ('10055', 'north'), ('10056', 'north'), ('10057', 'north'), ('10058', 'north'), ('10059', 'north'),
    ('10060', NULL), ('10061', NULL), ('10062', NULL), ('10063', NULL), ('10064', NULL), ('10065', NULL), ('10066', NULL), ('10067', NULL), ('10068', NULL), ('10069', NULL), ('10070', NULL), ('10071', NULL), ('10072', NULL), ('10073', NULL), ('10074', NULL), ('10075', NULL), ('10076', NULL), ('10077', NULL), ('10078', NULL), ('10079', NULL), ('10080', NULL), ('10081', NULL), ('10082', NULL), ('10083', NULL), ('10084', NULL), ('10085', NULL), ('10086', NULL), ('10087', NULL), ('10088', NULL), ('10089', NULL), ('10090', NULL), ('10091', NULL), ('10092', NULL), ('10093', NULL), ('10094', NULL), ('10095', NULL), ('10096', NULL), ('10097', NULL), ('10098', NULL), ('10099', NULL), ('10100', NULL), ('10101', NULL), ('10102', NULL), ('10103', NULL), ('10104', NULL), ('10105', NULL), ('10106', NULL), ('10107', NULL), ('10108', NULL), ('10109', NULL), ('10110', NULL), ('10111', NULL), ('10112', NULL), ('10113', NULL), ('10114', NULL), ('10115', NULL), ('10116', NULL), ('10117', NULL), ('10118', NULL), ('10119', NULL), ('10120', NULL), ('10121', NULL), ('10122', NULL), ('10123', NULL), ('10124', NULL), ('10125', NULL), ('10126', NULL), ('10127', NULL), ('10128', NULL), ('10129', NULL), ('10130', NULL), ('10131', NULL), ('10132', NULL), ('10133', NULL), ('10134', NULL), ('10135', NULL), ('10136', NULL), ('10137', NULL), ('10138', NULL), ('10139', NULL), ('10140', NULL), ('10141', NULL), ('10142', NULL), ('10143', NULL), ('10144', NULL), ('10145', NULL), ('10146', NULL), ('10147', NULL), ('10148', NULL), ('10149', NULL), ('10150', NULL), ('10151', NULL), ('10152', NULL), ('10153', NULL), ('10154', NULL), ('10155', NULL), ('10156', NULL), ('10157', NULL), ('10158', NULL), ('10159', NULL), ('10160', NULL), ('10161', NULL), ('10162', NULL), ('10163', NULL), ('10164', NULL), ('10165', NULL), ('10166', NULL), ('10167', NULL), ('10168', NULL), ('10169', NULL), ('10170', NULL), ('10171', NULL), ('10172', NULL), ('10173', NULL), ('10174', NULL), ('10175', NULL), ('10176', NULL), ('10177', NULL), ('10178', NULL), ('10179', NULL), ('10180', NULL), ('10181', NULL), ('10182', NULL), ('10183', NULL), ('10184', NULL), ('10185', NULL), ('10186', NULL), ('10187', NULL), ('10188', NULL), ('10189', NULL), ('10190', NULL), ('10191', NULL), ('10192', NULL), ('10193', NULL), ('10194', NULL), ('10195', NULL), ('10196', NULL), ('10197', NULL), ('10198', NULL), ('10199', NULL), ('10200', NULL)
  ) SELECT policy_engine_key, policy_engine_label FROM policy_engine_listed) AS policy_engine_listed
  GROUP BY policy_engine_key COLLATE "binary"
), looked AS NOT MATERIALIZED (
  SELECT "zip", "policy_engine_found_1", "policy_engine_label_1", policy_engine_count
  FROM counted
  LEFT JOIN "policy_engine_lookup_1" ON "zip" COLLATE "binary" = "policy_engine_key_1"
), recoded AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN "zip" IS NULL THEN NULL
      WHEN "policy_engine_found_1" = 1 THEN "policy_engine_label_1"
      ELSE 'elsewhere'
    END AS "zip",
    policy_engine_count
  FROM looked
)
SELECT "zip", CAST(SUM(policy_engine_count) AS BIGINT) AS "n"
FROM recoded
GROUP BY "zip"
HAVING SUM(policy_engine_count) >= 5
ORDER BY "zip" NULLS LAST
