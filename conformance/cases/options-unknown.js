// Unknown options: a warning, and the run goes on.
export const options = { iterations: 1, threshholds: { http_req_failed: ['rate<0.01'] } };

export default function () {
  console.log('ran');
}
