import { plain } from '../../ui/text.tsx'
import type { Words } from '../../words/en.ts'
import type { Formats } from '../../words/formats.ts'
import { type Names, useNames } from '../../words/names.ts'
import { type Speech, useSpeech } from '../../words/words.ts'
import { changesBetween } from '../audit/changes.ts'
import { settingName } from '../settings/setting-name.ts'
import type { Part } from './reversal.ts'
import { texts } from './words.ts'

export interface PartTexts {
  name(part: Part): string
  value(part: Part, value: unknown): string
}

export function usePartTexts(): PartTexts {
  const speech = useSpeech()
  const names = useNames()
  return {
    name: ({ keys, path }) => nameOf(speech.words, names, keys, path),
    value: ({ keys }, value) => textOf(speech, names, keys, value),
  }
}

function nameOf(words: Words, names: Names, [head = '', ...rest]: readonly string[], path: string): string {
  const { settings } = words
  if (head === 'shadow')
    return rest[0] === undefined ? settings.shadow : settings.shadow + words.colon + names.layer(rest[0])
  if (head === 'plans' && rest.length === 1) return settings.planOf(rest[0] ?? '')
  if (path === 'base') return settings.base
  return path === 'custom' ? settings.custom : settingName(words, names, path)
}

function textOf(speech: Speech, names: Names, [head]: readonly string[], value: unknown): string {
  const { words, formats } = speech
  if (value === undefined || value === null) return head === 'prices' ? words.users.follows : words.audit.nothing
  const ofMember = memberTexts(speech, names)[head ?? '']
  if (ofMember !== undefined) return ofMember(value)
  if (typeof value === 'number') return formats.number(value)
  if (typeof value === 'boolean') return value ? '✓' : words.settings.off
  if (typeof value === 'string') return plain(value)
  const leaves = changesBetween(null, value as Record<string, unknown>)
  return leaves.map(({ path, after = '' }) => `${path} ${after}`).join(', ')
}

/** Texts for members whose values need a special form. */
function memberTexts(
  { words, formats, language }: Speech,
  names: Names,
): Readonly<Record<string, (value: unknown) => string>> {
  return {
    mode: (value) => own(words.modes, String(value)) ?? plain(String(value)),
    shadow: (value) => (value === 'all' ? texts[language].all : listOf(value).map(names.window).join(', ')),
    plans: (value) => planText(value, names, formats),
    thresholds: (value) =>
      listOf(value)
        .map((each) => thresholdText(each, formats))
        .join(', '),
  }
}

/** @param value limits by layer, category and window, or a part of them */
function planText(value: unknown, names: Names, formats: Formats): string {
  if (typeof value === 'number') return formats.number(value)
  return changesBetween(null, value as Record<string, unknown>)
    .map(({ path, after = '' }) => {
      const [layer = '', category = '', ...window] = path.split('.')
      return `${window.length === 0 ? path : names.cell(layer, category, window.join('.'))} ${after}`
    })
    .join(', ')
}

function thresholdText(threshold: unknown, formats: Formats): string {
  const { share, left } = threshold as { readonly share?: number; readonly left?: number }
  return share === undefined ? formats.number(left ?? 0) : formats.percent(share)
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value : []
}

function own(texts: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined
}
