// expectedStatuses() and setResponseCallback().
import http from 'k6/http';

const get = (status, params) => http.get(`${__ENV.BASE}/status/${status}`, { tags: { name: 'x' }, ...params });

export default function () {
  get(200, { responseCallback: http.expectedStatuses(404) });
  get(404, { responseCallback: http.expectedStatuses(404) });
  get(503, { responseCallback: http.expectedStatuses({ min: 500, max: 599 }, 200) });
  get(404, { responseCallback: null });
  http.setResponseCallback(http.expectedStatuses(500));
  get(200);
  get(500);
  http.setResponseCallback(null);
  get(404);
  try {
    http.expectedStatuses('404');
    console.log('accepted');
  } catch (error) {
    console.log('refused');
  }
}
