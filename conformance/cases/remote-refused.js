// A remote module whose server does not answer.
import 'https://127.0.0.1:1/module.js';

export default function () {}
