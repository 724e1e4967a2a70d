// A threshold on an undeclared metric.
export const options = { thresholds: { http_req_duratoin: ['p(95)<1000'] } };

export default function () {}
