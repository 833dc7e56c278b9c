import type { Locale } from './texts.ts'

/** How much a client prefers a language: higher quality is better, and a language's own name counts before `*`. */
interface Preference {
  readonly named: boolean
  readonly quality: number
  /** Place in the header field; earlier is better among equals. */
  readonly place: number
}

/** The best of our languages by `Accept-Language`: any Chinese is Simplified Chinese, all else is English. */
export function preferredLocale(acceptLanguage: string | undefined): Locale {
  if (acceptLanguage === undefined || acceptLanguage === '') return 'en'
  let english: Preference | undefined
  let chinese: Preference | undefined
  for (const [place, range] of acceptLanguage.split(',').entries()) {
    const [tag = '', ...parameters] = range.split(';')
    const language = (tag.split('-')[0] ?? '').trim().toLowerCase()
    const preference = { named: language !== '*', quality: qualityOf(parameters), place }
    if (language === 'en' || language === '*') english = closer(english, preference)
    if (language === 'zh' || language === '*') chinese = closer(chinese, preference)
  }
  return isBetter(chinese, english) ? 'zh-CN' : 'en'
}

function qualityOf(parameters: readonly string[]): number {
  const given = parameters.map((each) => /^\s*q=([\d.]+)\s*$/i.exec(each)?.[1]).find((each) => each !== undefined)
  const quality = given === undefined ? 1 : Number(given)
  return quality >= 0 && quality <= 1 ? quality : 0
}

/** The more specific of two preferences for one language. */
function closer(known: Preference | undefined, next: Preference): Preference {
  if (known === undefined || (next.named && !known.named)) return next
  return next.named === known.named && next.quality > known.quality ? next : known
}

function isBetter(a: Preference | undefined, b: Preference | undefined): boolean {
  if (a === undefined || a.quality === 0) return false
  if (b === undefined || b.quality !== a.quality) return b === undefined || a.quality > b.quality
  return a.place < b.place
}
