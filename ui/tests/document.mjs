// A made-up report document: every kind of block, in eight chapters.

const plain = (text) => ({ text, style: 'plain' });
const code = (text) => ({ text, style: 'code' });
const strong = (text) => ({ text, style: 'strong' });
const paragraph = (...text) => ({ kind: 'paragraph', text });
const table = (columns, rows) => ({
  kind: 'table',
  columns: columns.map((title) => ({ text: title ? [plain(title.replace('>', ''))] : [], isNumber: title.startsWith('>') })),
  rows: rows.map((row) => row.map((cell) => (cell === '' ? [] : [/^[a-z_./{]+/.test(cell) ? code(cell) : plain(cell)]))),
});
const section = (title, blocks, isDetail = false) => ({ title, isDetail, blocks });

const TITLES = ['Test configuration and timeline', 'Results', 'Infrastructure', 'Evidence: server-side metrics during the run', 'Logs and tasks', 'Bottleneck', 'Comparison with earlier runs and trend over load'];

export function documentPage() {
  const chapters = [
    {
      number: 0,
      title: 'Executive summary',
      sections: [
        section('', [{
          kind: 'list',
          items: [
            [strong('Tested'), plain(': '), code('first-page.js'), plain(' · up to 120 VUs')],
            [strong('Bottleneck'), plain(': scan-worker CPU is at its limit')],
            [strong('Predicted effect'), plain(': throughput from 421/min to 737/min [690 – 780]')],
          ],
        }]),
        section('Measurement validity', [{ kind: 'list', items: [[plain('⚠️ timers fired up to 41ms late')]] }], true),
      ],
    },
    ...TITLES.map((title, index) => ({
      number: index + 1,
      title,
      sections: [
        section(`Part one of ${index + 1}`, [
          paragraph(plain('Each row is of '), code('http_req_duration'), plain('.')),
          table(['', 'Metric', 'Condition', '>Measured', '>Limit'], [
            ['❌', 'http_req_duration', 'p(95)<500', '812ms', '500ms'],
            ['✅', 'http_req_failed', 'rate<0.01', '0.11%', '1.00%'],
          ]),
        ]),
        section('Details', [
          { kind: 'heading', text: [plain('Scenario '), code('browse')] },
          table(['Metric', '>avg', '>min', '>med', '>max', '>p(90)', '>p(95)', 'Precision'], Array.from({ length: 60 }, (_, row) => [`metric_${row}`, '212.5ms', '1ms', '200ms', '900ms', '700ms', '812ms', 'exact'])),
          { kind: 'remark', blocks: [paragraph(plain('Samples not exported: 7'))] },
          { kind: 'lines', lines: 'sum by (pod) (rate(container_cpu_usage_seconds_total[1m]))\n\n"second line"' },
        ], true),
      ],
    })),
    { number: 8, title: 'Appendix: queries, generator, environment, raw data', sections: [section('Raw data', [paragraph(code('plimsoll report ab12cd08 --format json'), plain(' exports this report.'))])] },
  ];
  return {
    objective: null,
    head: [
      paragraph(strong('validity: VALID')),
      { kind: 'heading', text: [plain('❌ Not OK at up to 120 VUs: '), code('http_req_duration'), plain(' p95 812ms, limit 500ms')] },
      paragraph(code('first-page.js'), plain(' · run '), code('ab12cd08')),
    ],
    chapters,
    foot: [paragraph({ text: 'exact', style: 'emphasis' }, plain(': computed from every value.'))],
  };
}
