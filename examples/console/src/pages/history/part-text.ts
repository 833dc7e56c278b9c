import { plain } from '../../ui/text.tsx'
import { type Names, useNames } from '../../words/names.ts'
import { type Speech, useSpeech } from '../../words/words.ts'
import { changesBetween } from '../audit/changes.ts'
import { settingName, settingValue } from '../settings/setting-name.ts'
import type { Part } from './reversal.ts'

export interface PartTexts {
  name(part: Part): string
  value(part: Part, value: unknown): string
}

export function usePartTexts(): PartTexts {
  const speech = useSpeech()
  const names = useNames()
  return {
    name: ({ path }) => nameOf(speech, names, path),
    value: ({ path }, value) => textOf(speech, path, value),
  }
}

function nameOf({ words }: Speech, names: Names, path: string): string {
  if (path === 'base') return words.settings.base
  return path === 'custom' ? words.settings.custom : settingName(words, names, path)
}

function textOf({ words, formats }: Speech, path: string, value: unknown): string {
  if (value === undefined || value === null)
    return path.startsWith('prices.') ? words.users.follows : words.audit.nothing
  if (typeof value === 'number') return formats.number(value)
  if (typeof value === 'boolean') return settingValue(words, path, String(value))
  if (typeof value === 'string') return path === 'mode' ? settingValue(words, path, value) : plain(value)
  const leaves = changesBetween(null, value as Record<string, unknown>)
  return leaves.map(({ path: leaf, after = '' }) => `${leaf} ${after}`).join(', ')
}
