/**
 * Some systems name a language as no standard does, `en-US@posix`, and their browsers pass it on: `Intl` throws at that, and
 * the chart reads it as soon as it is loaded. To be imported before everything else.
 */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true })
}
