import type { Locale } from '@scoregw/quota'
import type { Request } from 'express'

/** The best of our languages by `Accept-Language`: any Chinese is answered in Simplified Chinese, all else in English. */
export function localeOf(req: Request): Locale {
  return req.acceptsLanguages(['en', 'zh']) === 'zh' ? 'zh-CN' : 'en'
}
