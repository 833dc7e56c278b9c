import type { Words } from './en.ts'

export const failures: Words['failures'] = {
  title: '错误',
  about: '请求的结果、哪些操作出错，以及自适应系数的反应。',
  range: '时间范围',
  week: '最近 7 天',
  axisShare: '↑ 失败请求的比例',
  axisFactor: '自适应系数 ↑',
  axisTime: (zone) => `时间：${zone} →`,
  chart: '失败请求的比例与自适应系数',
  chartKeys: '用方向键逐格移动。',
  zoomKeys: '按回车键查看该格所在的一天。',
  codeZero: '没有响应（httpStatus 为 0）',
  otherServer: '其他服务端错误（500 及以上）',
  business: '业务失败（returnCode 不为 1）',
  factor: '自适应系数',
  calls: '请求数',
  client: '客户端错误',
  rate: '失败率',
  share: (count, share) => `${count}（${share}）`,
  from: '开始',
  step: (from, to) => `${from} – ${to}`,
  none: '此范围内没有请求。',
  asTable: '以表格显示失败',
  noFailed: '没有失败的格。',
  byOperation: '各操作的服务端错误',
  operation: '操作',
  status: '状态码',
  count: '错误数',
  last: '最近一次',
  noErrors: '此范围内没有服务端错误。',
  moves: '自适应系数的变动',
  movesAbout: '最近的变动，最新的在前。',
  noMoves: '系数还没有变动过。',
  now: '当前系数',
  active: '自适应模式已开启。网关每分钟评估系数。',
  failed: (level, at) => `错误始于 ${level}，最早 ${at} 再次试探。`,
  inactive: (mode) => `当前为${mode}模式，系数不起作用，也不变动。`,
  wouldDo: '若现在评估',
  lastTick: '上次评估',
}

export const reasons: Words['reasons'] = {
  errors_high: '失败率明显高于上界',
  errors_low: '失败率低于下界',
  trial: '再次试探失败过的一级，其错误可能稍后出现',
  little_traffic: '流量太少，无法判断',
  in_vain: '降低限额未能减少错误',
  steady: '从计数看无需变动',
}

export const verdicts: Words['verdicts'] = verdictsWith('')
export const wouldVerdicts: Words['wouldVerdicts'] = verdictsWith('将')

function verdictsWith(would: string): Words['verdicts'] {
  return {
    lowered: (from, to, because) => `${would}由 ${from} 降至 ${to}：${because}。`,
    raised: (from, to, because) => `${would}由 ${from} 升至 ${to}：${because}。`,
    stays: (at, because) => `${would}保持 ${at}：${because}。`,
  }
}

export const reasonCounts: Words['reasonCounts'] = (errors, calls, low, high, recent, recentCalls) =>
  `最近 30 分钟 ${calls} 个请求中有 ${errors} 个失败（失败率可能为 ${low} 至 ${high}），最近 5 分钟 ${recentCalls} 个中有 ${recent} 个。`
