// @ts-check
import { TAGS_ZH, TEXTS_ZH } from './texts-zh.js'
import { CATEGORIES_ZH, documentInChinese } from './translate.js'

/**
 * The page's own texts, and its replacements for texts of Swagger UI and of the documents.
 *
 * @typedef {{
 *   title(service: string): string,
 *   filter: string,
 *   showAnswer(code: string): string,
 *   free: string,
 *   price(costs: readonly number[], category: string): string,
 *   left(tokens: number | 'unlimited', category: string): string,
 *   information: string,
 *   access: string,
 *   close: string,
 *   credential: string,
 *   body: string,
 *   server: string,
 *   mediaType: string,
 *   value: string,
 *   code: string,
 *   table: string,
 *   texts: ReadonlyMap<string, string>,
 *   tags: ReadonlyMap<string, string>,
 *   document(text: string): string,
 * }} Words
 */

/** @type {Words} */
const EN = {
  title: (service) => `${service} - API reference`,
  filter: 'Filter operations',
  showAnswer: (code) => `Show what ${code} looks like`,
  free: 'Free.',
  price: (costs, category) =>
    `Costs ${costs.join(' or ')} ${category} tokens, unless administrators set another price.`,
  left: (tokens, category) => `You have ${tokens} ${category} tokens left.`,
  information: 'About the service',
  access: 'Server and credentials',
  close: 'Close',
  credential: 'Credential',
  body: 'Request body',
  server: 'Server',
  mediaType: 'Media type',
  value: 'Value',
  code: 'Code',
  table: 'Table',
  texts: new Map(),
  tags: new Map(),
  document: (text) => text,
}

/** @type {Words} */
const ZH = {
  title: (service) => `${service} - API 参考`,
  filter: '筛选操作',
  showAnswer: (code) => `显示 ${code} 的内容`,
  free: '免费。',
  price: (costs, category) =>
    `消耗 ${costs.join(' 或 ')} 点${CATEGORIES_ZH[category] ?? category}额度，除非管理员另行定价。`,
  left: (tokens, category) =>
    tokens === 'unlimited'
      ? `您的${CATEGORIES_ZH[category] ?? category}额度不限。`
      : `您还剩 ${tokens} 点${CATEGORIES_ZH[category] ?? category}额度。`,
  information: '关于此服务',
  access: '服务器和凭据',
  close: '关闭',
  credential: '凭据',
  body: '请求体',
  server: '服务器',
  mediaType: '媒体类型',
  value: '值',
  code: '代码',
  table: '表格',
  texts: new Map(Object.entries(TEXTS_ZH)),
  tags: new Map(Object.entries(TAGS_ZH)),
  document: documentInChinese,
}

/**
 * @param {string} language of the document
 * @returns {Words}
 */
export function wordsOf(language) {
  return language.startsWith('zh') ? ZH : EN
}
