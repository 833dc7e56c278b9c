// @ts-check
import { PARAGRAPHS_ZH } from './documents-zh.js'
import { ANSWERS_ZH } from './errors-zh.js'

/** @type {Readonly<Record<string, string>>} */
export const CATEGORIES_ZH = { read: '读取', write: '写入' }

/** @type {Readonly<Record<string, string>>} */
const LENGTHS_ZH = { day: '天', hour: '小时', minute: '分钟', second: '秒', millisecond: '毫秒' }
/** @type {Readonly<Record<string, string>>} */
const PERIODS_ZH = { day: '自然日', week: '自然周', month: '自然月' }

/**
 * Windows: 1 hour, 5 hours, a calendar month.
 *
 * @param {string} text
 */
function windowsInChinese(text) {
  return text
    .replace(/(\d+) ([a-z]+?)s?\b/g, (_, count, unit) => `${count} ${LENGTHS_ZH[unit] ?? unit}`)
    .replace(/a calendar (\w+)/g, (_, period) => PERIODS_ZH[period] ?? period)
    .replaceAll(', ', '、')
}

/**
 * Paragraphs that a policy has its say in.
 *
 * @type {readonly (readonly [RegExp, (...parts: string[]) => string])[]}
 */
const PATTERNS = [
  [
    /^Costs ([\d or]+) \*\*(\w+)\*\* tokens, unless the administrators set other prices; nothing if it fails\.$/,
    (costs, category) =>
      `消耗 ${costs.replaceAll('or', '或')} 点**${CATEGORIES_ZH[category] ?? category}**额度，除非管理员另行定价。失败不消耗。`,
  ],
  [
    /^Stores players' scores, and meters every request against the quotas (.+), in windows of (.+)\.$/,
    (quotas, windows) =>
      `保存玩家的成绩，并按配额 ${quotas.replaceAll(' and ', ' 和 ')} 计量每个请求，窗口为 ${windowsInChinese(windows)}。`,
  ],
  [
    /^([\d,]+) limits, each of them `null` where the user follows the default, the plan, until when both are in force, whether shared layers are bypassed, and where the user's own periods begin\.$/,
    (count) =>
      `${count} 个限额（\`null\` 表示默认）、套餐、两者的有效期、是否绕过共享层，以及用户自己的周期从何时开始。`,
  ],
]

/**
 * A text of a document in Chinese, paragraph by paragraph. Unknown texts stay as they are.
 *
 * @param {string} text
 * @returns {string}
 */
export function inChinese(text) {
  return text
    .split('\n\n')
    .map((paragraph) => paragraphInChinese(paragraph.replaceAll('\n', ' ').trim()) ?? paragraph)
    .join('\n\n')
}

/** @param {string} paragraph */
function paragraphInChinese(paragraph) {
  const [, code, meaning = ''] = /^(`\w+`: )(.+)$/.exec(paragraph) ?? []
  const answer = ANSWERS_ZH[meaning]
  if (code !== undefined && answer !== undefined) return `${code.slice(0, -2)}：${answer}`
  for (const [pattern, toChinese] of PATTERNS) {
    const found = pattern.exec(paragraph)
    if (found !== null) return toChinese(...found.slice(1))
  }
  return PARAGRAPHS_ZH[paragraph] ?? ANSWERS_ZH[paragraph]
}

/**
 * A document with what it says to people in Chinese. Schemas stay as they are: what they say is of members, by their names.
 *
 * @param {string} text JSON
 * @returns {string}
 */
export function documentInChinese(text) {
  const { components: { schemas = {}, ...components } = {}, ...document } = JSON.parse(text)
  return JSON.stringify({ ...walk(document), components: { ...walk(components), schemas } })
}

/**
 * @param {any} value
 * @returns {any}
 */
function walk(value) {
  if (Array.isArray(value)) return value.map(walk)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      // Examples are sent and received data.
      if (['schema', 'example', 'examples'].includes(key)) return [key, member]
      return [key, key === 'description' && typeof member === 'string' ? inChinese(member) : walk(member)]
    }),
  )
}
