import type { Words } from './en.ts'

/** What the page of errors says. */
export const failures: Words['failures'] = {
  title: '错误',
  about: (minutes) => `请求的结果，每 ${minutes} 分钟一格，以及自适应系数的变化。`,
  range: '显示范围',
  ranges: { '24h': '24 小时', '7d': '7 天' },
  axisShare: '↑ 失败请求的比例',
  axisFactor: '自适应系数 ↑',
  axisTime: (zone) => `时间：${zone} →`,
  chart: '失败请求的比例与自适应系数',
  chartKeys: '方向键逐格移动。',
  codeZero: '没有应答（httpStatus 为 0）',
  otherServer: '其他服务端错误（500 及以上）',
  business: '业务失败（returnCode 不为 1）',
  factor: '自适应系数',
  calls: '请求数',
  client: '客户端错误',
  rate: '失败率',
  share: (count, share) => `${count}（${share}）`,
  totals: { '24h': '最近 24 小时', '7d': '最近 7 天' },
  from: '开始',
  step: (from, to) => `${from} – ${to}`,
  none: '没有请求。',
  asTable: '以表格显示图表',
  tableAbout: (rows) => `共 ${rows} 格，最新的在前`,
  onlyFailed: '只显示有失败的时段',
  noFailed: '没有出现失败的时段。',
  utc: (zone) => `时间为 ${zone}。`,
  moves: '自适应系数的变动',
  movesAbout: '最近的变动，最新的在前。',
  noMoves: '系数还没有变动过。',
  at: '时间',
  move: '变动',
  why: '原因',
  now: '当前系数',
  active: '自适应模式已开启：每分钟重新评估系数。',
  inactive: (mode) => `当前为${mode}模式：系数不起作用，也不变动。`,
  wouldDo: '若现在评估',
  lastTick: '上次评估',
}

export const reasons: Words['reasons'] = {
  errors_high: (from, to) => `由 ${from} 降至 ${to}：错误率确已高于上限。`,
  errors_low: (from, to) => `由 ${from} 升至 ${to}：错误率低于下限。`,
  quiet_fall: (from, to) => `由 ${from} 降至 ${to}，向 1 靠拢：流量太少，无法判断。`,
  quiet_rise: (from, to) => `由 ${from} 升至 ${to}，向 1 靠拢：流量太少，无法判断。`,
  steady: (_from, to) => `保持 ${to}：计数表明无需变动。`,
  waiting: (_from, to) => `保持 ${to}：计数表明需要变动，但距上次变动太近。`,
  capped: (_from, to) => `保持 ${to}：错误很少，但受先前下降留下的上限所限。`,
  at_limit: (_from, to) => `保持 ${to}：计数要求继续变动，但已到极限。`,
  quiet: (_from, to) => `保持 ${to}：流量太少，无法判断。`,
}

export const wouldReasons: Words['wouldReasons'] = {
  errors_high: (from, to) => `将由 ${from} 降至 ${to}：错误率确已高于上限。`,
  errors_low: (from, to) => `将由 ${from} 升至 ${to}：错误率低于下限。`,
  quiet_fall: (from, to) => `将由 ${from} 降至 ${to}，向 1 靠拢：流量太少，无法判断。`,
  quiet_rise: (from, to) => `将由 ${from} 升至 ${to}，向 1 靠拢：流量太少，无法判断。`,
  steady: (_from, to) => `将保持 ${to}：计数表明无需变动。`,
  waiting: (_from, to) => `将保持 ${to}：计数表明需要变动，但距上次变动太近。`,
  capped: (_from, to) => `将保持 ${to}：错误很少，但受先前下降留下的上限所限。`,
  at_limit: (_from, to) => `将保持 ${to}：计数要求继续变动，但已到极限。`,
  quiet: (_from, to) => `将保持 ${to}：流量太少，无法判断。`,
}

export const reasonCounts: Words['reasonCounts'] = (errors, calls, low, high, recent, recentCalls) =>
  `最近 30 分钟 ${calls} 个请求中有 ${errors} 个失败（错误率可能为 ${low} 至 ${high}），最近 5 分钟 ${recentCalls} 个中有 ${recent} 个。`
