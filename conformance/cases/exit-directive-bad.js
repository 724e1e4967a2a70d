// A directive with what is no constraint on a version.
'use k6 ==2';
export default function () {}
