// Two constraints on one version.
'use k6 >= 1';
'use k6 < 99';
export default function () {}
