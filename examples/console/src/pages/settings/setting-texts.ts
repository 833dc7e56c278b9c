import type { FieldTexts } from '../../form/changes.tsx'
import { MODES, type Mode } from '../../limits.ts'
import { useNames } from '../../words/names.ts'
import { useWords } from '../../words/words.ts'

/** Everyone's limits in words. */
export function useSettingTexts(): FieldTexts {
  const words = useWords()
  const names = useNames()
  const { settings } = words
  return {
    nameOf(path) {
      const [head, layer = '', category = '', window = ''] = path.split('.')
      if (path === 'mode') return settings.mode
      if (path === 'site.enabled') return settings.enabled
      if (path === 'site.multiplier') return settings.multiplier
      if (head === 'prices') return settings.priceOf(path.slice('prices.'.length))
      return `${head === 'custom' ? settings.customValue : settings.baseValue}: ${names.cell(layer, category, window)}`
    },
    textOf(path, text) {
      if (path === 'mode') return words.modes[modeOf(text)]
      if (path === 'site.enabled') return text === 'true' ? '✓' : settings.off
      if (text !== '') return text
      return path.startsWith('prices.') ? words.users.follows : words.none
    },
  }
}

/** @returns normal for an unknown one */
export function modeOf(text: string): Mode {
  return MODES.find((mode) => mode === text) ?? 'normal'
}
