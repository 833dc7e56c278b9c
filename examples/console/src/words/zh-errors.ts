import type { Words } from './en.ts'

export const failures: Words['failures'] = {
  title: '错误',
  about: (minutes) => `请求的结果，每 ${minutes} 分钟一格，以及自适应系数的反应。`,
  range: '时间范围',
  ranges: { '24h': '24 小时', '7d': '7 天' },
  axisShare: '↑ 失败请求的比例',
  axisFactor: '自适应系数 ↑',
  axisTime: (zone) => `时间：${zone} →`,
  chart: '失败请求的比例与自适应系数',
  chartKeys: '用方向键逐格移动。',
  codeZero: '没有响应（httpStatus 为 0）',
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
  none: '此范围内没有请求。',
  asTable: '以表格显示图表',
  tableAbout: (rows) => `共 ${rows} 格，最新的在前`,
  onlyFailed: '只显示有失败的格',
  noFailed: '没有失败的格。',
  utc: (zone) => `时间为 ${zone}。`,
  moves: '自适应系数的变动',
  movesAbout: '最近的变动，最新的在前。',
  noMoves: '系数还没有变动过。',
  at: '时间',
  move: '变动',
  why: '原因',
  now: '当前系数',
  active: '自适应模式已开启。网关每分钟评估系数。',
  wall: (levels, at) => `错误始于 ${levels}，最早 ${at} 再次试探。`,
  levels: (low, high) => (low === high ? low : `${low} 至 ${high}`),
  wallAbout:
    '系数升到这些水平时出现错误，因此退回其下。再次升到某一级之前，先试探五分钟。每失败一次，等待时间加倍，从 2 小时直至 8 小时。',
  wallTitle: '“墙”',
  inactive: (mode) => `当前为${mode}模式，系数不起作用，也不变动。`,
  wouldDo: '若现在评估',
  lastTick: '上次评估',
}

export const reasons: Words['reasons'] = reasonsWith('', '试探失败')
export const wouldReasons: Words['wouldReasons'] = reasonsWith('将', '试探将失败')

function reasonsWith(would: string, failed: string): Words['reasons'] {
  return {
    errors_high: (from, to) => `${would}由 ${from} 降至 ${to}：失败率明显高于上界。`,
    returned: (from, to) => `${would}由 ${from} 降至 ${to}：退回引发错误的上升之前。`,
    probe: (from, to) => `${would}由 ${from} 升至 ${to}，为时数分钟：再次试探这一级。`,
    probe_over: (from, to) => `${would}由 ${from} 降至 ${to}：试探结束，其错误可能稍后出现。`,
    probe_failed: (_from, to) => `${failed}：服务最多承受 ${to}。`,
    probe_passed: (from, to) => `${would}由 ${from} 升至 ${to}：这一级通过了试探。`,
    errors_low: (from, to) => `${would}由 ${from} 升至 ${to}：失败率低于下界。`,
    quiet_fall: (from, to) => `${would}由 ${from} 降至 ${to}，向 1 靠拢：流量太少，无法判断。`,
    quiet_rise: (from, to) => `${would}由 ${from} 升至 ${to}，向 1 靠拢：流量太少，无法判断。`,
    steady: (_from, to) => `${would}保持 ${to}：从计数看无需变动。`,
    waiting: (_from, to) => `${would}保持 ${to}：从计数看应当变动，但距上次变动太近。`,
    capped: (_from, to) => `${would}保持 ${to}：错误很少，但更高的水平出现过错误，稍后再试探。`,
    probing: (_from, to) => `${would}保持 ${to} 数分钟：正在试探这一级。`,
    listening: (_from, to) => `${would}保持 ${to}：试探过更高一级，其错误可能稍后出现。`,
    at_limit: (_from, to) => `${would}保持 ${to}：从计数看应当继续变动，但已到边界。`,
    quiet: (_from, to) => `${would}保持 ${to}：流量太少，无法判断。`,
  }
}

export const reasonCounts: Words['reasonCounts'] = (errors, calls, low, high, recent, recentCalls) =>
  `最近 30 分钟 ${calls} 个请求中有 ${errors} 个失败（失败率可能为 ${low} 至 ${high}），最近 5 分钟 ${recentCalls} 个中有 ${recent} 个。`
