import type { Mode } from '../../api/documents.ts'
import type { Words } from '../../words/en.ts'
import type { Names } from '../../words/names.ts'
import { PLANS, THRESHOLDS } from './rule-fields.ts'

export function settingName({ settings }: Words, names: Names, path: string): string {
  const [head = '', ...rest] = path.split('.')
  if (path === 'mode') return settings.mode
  if (head === 'prices') return settings.priceOf(path.slice('prices.'.length))
  if (path === PLANS) return settings.plans
  if (path === THRESHOLDS) return settings.thresholds
  if (rest.length === 0) return path
  if (head === 'shadow') return shadowName(settings, names, rest)
  if (head === PLANS) {
    const [plan = '', layer = '', category = '', window = ''] = rest
    return `${settings.planOf(plan)}: ${names.cell(layer, category, window)}`
  }
  if (head !== 'base' && head !== 'custom') return layerSetting(settings, names.layer(head), rest.join('.')) ?? path
  const [layer = '', category = '', window = ''] = rest
  return `${head === 'custom' ? settings.customValue : settings.baseValue}: ${names.cell(layer, category, window)}`
}

function shadowName(settings: Words['settings'], names: Names, [layer = '', label]: readonly string[]): string {
  const name = names.layer(layer)
  return label === undefined ? settings.shadowAll(name) : settings.shadowOne(name, names.window(label))
}

function layerSetting(settings: Words['settings'], layer: string, member: string): string | undefined {
  if (member === 'enabled') return settings.enabled(layer)
  return member === 'multiplier' ? settings.multiplier(layer) : undefined
}

/** The value of a setting, as text for people. */
export function settingValue(words: Words, path: string, text: string): string {
  if (path === 'mode') return words.modes[text as Mode]
  if (path.endsWith('.enabled') || path.startsWith('shadow.')) return text === 'true' ? '✓' : words.settings.off
  return text === '' ? words.conflict.empty : text
}
