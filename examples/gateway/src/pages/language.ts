import type { Request } from 'express'

const LANGUAGES = ['en', 'zh-CN'] as const
/** The languages of the pages. */
export type PageLanguage = (typeof LANGUAGES)[number]

/** Returns the language in the address, otherwise the one that the browser prefers. */
export function languageOf(req: Request): PageLanguage {
  const named = LANGUAGES.find((each) => each === req.query.lang)
  if (named !== undefined) return named
  const wanted = req.acceptsLanguages('en', 'zh-CN', 'zh-Hans', 'zh')
  return typeof wanted === 'string' && wanted.startsWith('zh') ? 'zh-CN' : 'en'
}

/** Escapes text for HTML elements and attributes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
