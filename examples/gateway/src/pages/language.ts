import type { Request } from 'express'

const LANGUAGES = ['en', 'zh-CN'] as const
/** The languages that the pages speak. */
export type PageLanguage = (typeof LANGUAGES)[number]

/** The language that the address names, else the one that the browser would rather have. */
export function languageOf(req: Request): PageLanguage {
  const named = LANGUAGES.find((each) => each === req.query.lang)
  if (named !== undefined) return named
  const wanted = req.acceptsLanguages('en', 'zh-CN', 'zh-Hans', 'zh')
  return typeof wanted === 'string' && wanted.startsWith('zh') ? 'zh-CN' : 'en'
}

/** Text as a page has it, in elements and in attributes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
