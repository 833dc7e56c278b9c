import {
  type Length,
  type LengthUnit,
  lengthOf,
  moneyText,
  numberText,
  type RefusalFacts,
  waitOf,
  wholeMinute,
} from '../texts.ts'

/** A refusal in Simplified Chinese. */
export function chineseText(facts: RefusalFacts, supportUrl: string | undefined): string {
  return supportUrl === undefined ? refusalOf(facts) : `${refusalOf(facts)}如需更高上限，请访问 ${supportUrl} 。`
}

function refusalOf(facts: RefusalFacts): string {
  const { kind, owner, limit, requested, retryable } = facts
  const whose = ownerText(owner)
  if (facts.isBlocked) return `${whose}已被停用。${retryable ? whenText(facts) : ''}`
  if (kind === 'concurrency') {
    const text = `${whose}并发请求过多：最多同时进行 ${numberText(limit)} 个。`
    return retryable ? `${text}请在其中一个完成后重试。` : text
  }
  const total = owner === 'service' ? '总上限' : '上限'
  if (!retryable && (facts.unit !== 'requests' || limit > 0)) {
    const most = `${perText(facts)} ${countOf(limit, facts)}`
    const needs = `此请求${facts.unit === 'requests' ? '计为' : '需要'} ${amountOf(requested, facts)}，超过${whose}`
    if (facts.burst === undefined) return `${needs}${most}的${total}。`
    return `${needs}单次突发 ${countOf(facts.burst, facts)}的${total}（${most}）。`
  }
  const text = `${whose}已达${total}：${perText(facts)} ${amountOf(limit, facts)}${burstText(facts)}。`
  return retryable ? `${text}${whenText(facts)}` : text
}

function ownerText(owner: RefusalFacts['owner']): string {
  if (owner === 'caller') return ''
  return owner === 'service' ? '服务' : `您的${inText(LAYERS[owner.name.toLowerCase()] ?? owner.name)}`
}

function amountOf(amount: number, { unit, format, category }: RefusalFacts): string {
  if (format !== undefined) return moneyText(amount, format, 'zh-CN')
  const kind = category === undefined ? '' : inText(CATEGORIES[category.toLowerCase()] ?? category)
  if (unit === 'requests') return `${numberText(amount)} 次${kind}请求`
  return `${numberText(amount)} 个${kind.trimEnd()} ${unit.replace(/s$/, '')}`
}

/** A word in Chinese text, with spaces around it unless it is Chinese itself. */
function inText(word: string): string {
  return /^\p{Script=Han}+$/u.test(word) ? word : ` ${word} `
}

/** The number only, or an amount of money with its currency. */
function countOf(amount: number, { unit, format }: RefusalFacts): string {
  if (format !== undefined) return moneyText(amount, format, 'zh-CN')
  return `${numberText(amount)} ${unit === 'requests' ? '次' : '个'}`
}

function burstText(facts: RefusalFacts): string {
  return facts.burst === undefined ? '' : `，突发最多 ${countOf(facts.burst, facts)}`
}

function perText(facts: RefusalFacts): string {
  const { count, unit } = lengthOf(facts)
  return count === 1 ? `每${UNITS_OF_ONE[unit] ?? UNITS[unit]}` : `每 ${lengthText({ count, unit })}`
}

function lengthText({ count, unit }: Length): string {
  return `${count} ${UNITS[unit]}`
}

function whenText({ kind, resetAt, timeZone, retryAfterSeconds }: RefusalFacts): string {
  if (kind !== 'calendar') return `请在 ${waitOf(retryAfterSeconds).map(lengthText).join(' ')}后重试。`
  const [year, month, day, time] = wholeMinute(resetAt, timeZone)
  return `将于 ${year} 年 ${Number(month)} 月 ${Number(day)} 日 ${time}（${timeZone}）重置。`
}

const UNITS: Readonly<Record<LengthUnit, string>> = {
  second: '秒',
  minute: '分钟',
  hour: '小时',
  day: '天',
  week: '周',
  month: '个月',
  year: '年',
}
const UNITS_OF_ONE: Readonly<Partial<Record<LengthUnit, string>>> = { month: '月' }

const LAYERS: Readonly<Record<string, string>> = {
  account: '账户',
  company: '公司',
  customer: '客户',
  group: '群组',
  org: '组织',
  organization: '组织',
  project: '项目',
  team: '团队',
  tenant: '租户',
  user: '用户',
  workspace: '工作区',
}

const CATEGORIES: Readonly<Record<string, string>> = { read: '读取', write: '写入' }
