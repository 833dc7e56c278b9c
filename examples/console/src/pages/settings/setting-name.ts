import { MODES, type Mode } from '../../limits.ts'
import type { Words } from '../../words/en.ts'
import type { Names } from '../../words/names.ts'

export function settingName({ settings }: Words, names: Names, path: string): string {
  const [head, layer = '', category = '', window = ''] = path.split('.')
  if (path === 'mode') return settings.mode
  if (path === 'site.enabled') return settings.enabled
  if (path === 'site.multiplier') return settings.multiplier
  if (head === 'prices') return settings.priceOf(path.slice('prices.'.length))
  if (window === '') return path
  return `${head === 'custom' ? settings.customValue : settings.baseValue}: ${names.cell(layer, category, window)}`
}

/** The value of a setting, as text for people. */
export function settingValue(words: Words, path: string, text: string): string {
  if (path === 'mode') return words.modes[modeOf(text)]
  if (path === 'site.enabled') return text === 'true' ? '✓' : words.settings.off
  if (text !== '') return text
  return path.startsWith('prices.') ? words.users.follows : words.conflict.empty
}

/** @returns normal for an unknown one */
export function modeOf(text: string): Mode {
  return MODES.find((mode) => mode === text) ?? 'normal'
}
