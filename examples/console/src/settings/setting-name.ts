import type { Mode } from '../api/api.ts'
import type { Words } from '../words/en.ts'
import type { Category, Layer, WindowName } from './axes.ts'

/** What a path of the settings is called. */
export function settingName(words: Words, path: string): string {
  const { settings } = words
  const [head = '', layer, category, window] = path.split('.')
  if (path === 'mode') return settings.mode
  if (path === 'site.enabled') return settings.enabled
  if (path === 'site.multiplier') return settings.multiplier
  if (head === 'prices') return settings.priceOf(path.slice('prices.'.length))
  const cell = words.windowOf(
    words.layers[layer as Layer],
    words.categories[category as Category],
    words.windows[window as WindowName],
  )
  return `${head === 'custom' ? settings.customValue : settings.baseValue}: ${cell}`
}

/** What a text of a form stands for, to be read. */
export function settingValue(words: Words, path: string, text: string): string {
  if (path === 'mode') return words.modes[text as Mode]
  if (path === 'site.enabled') return text === 'true' ? '✓' : words.settings.off
  return text === '' ? words.conflict.empty : text
}
