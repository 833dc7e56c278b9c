/**
 * Some systems report a non-standard language such as `en-US@posix`, and their browsers pass it on. `Intl` throws on
 * it, and the chart library reads it while loading. So import this before everything else.
 */
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true })
}
