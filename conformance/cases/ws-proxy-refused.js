//! env: HTTP_PROXY=$PROXY
// A proxy that does not lead where a WebSocket wants to go.
import ws from 'k6/ws';

export default function () {
  try {
    const response = ws.connect('ws://proxied.test/ws/echo', () => {});
    console.log(response.status, response.error);
  } catch (error) {
    console.log('threw', error);
  }
}
