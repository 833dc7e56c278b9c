import { useMemo } from 'preact/hooks'
import type { Policy, WindowDefinition } from '../api/documents.ts'
import { usePolicy } from '../session.ts'
import type { Unit, Words } from './en.ts'
import { useWords } from './words.ts'

/** Names of a policy's parts in a language. */
export interface Names {
  layer(name: string): string
  category(name: string): string
  window(label: string): string
  /** Layer, category and window together. */
  cell(layer: string, category: string, window: string): string
}

const UNITS: readonly { readonly unit: Unit; readonly letter: string; readonly ms: number }[] = [
  { unit: 'day', letter: 'd', ms: 86_400_000 },
  { unit: 'hour', letter: 'h', ms: 3_600_000 },
  { unit: 'minute', letter: 'm', ms: 60_000 },
  { unit: 'second', letter: 's', ms: 1_000 },
]

/** Known names are translated. Other names are shown as in the policy. */
function namesOf(words: Words, { layers, windows, concurrency }: Policy): Names {
  const scopes = Object.fromEntries(layers.map(({ name, scope }) => [name, scope]))
  const lengths = Object.fromEntries(windows.map((window) => [window.label, windowName(words, window)]))
  const layer = (name: string): string => own(words.layers, name) ?? own(scopes, name) ?? name
  const category = (name: string): string => own(words.categories, name) ?? capitalized(name)
  const slots = (label: string): string => own(words.slots, label) ?? words.slotsOf(label)
  const window = (label: string): string =>
    label === concurrency?.label ? slots(label) : (own(lengths, label) ?? label)
  return { layer, category, window, cell: (a, b, c) => words.windowOf(layer(a), category(b), window(c)) }
}

export function useNames(): Names {
  const words = useWords()
  const policy = usePolicy()
  return useMemo(() => namesOf(words, policy), [words, policy])
}

/** The length or period, and the burst of a bucket. */
function windowName(words: Words, window: WindowDefinition): string {
  const { burst } = window
  if (burst === undefined) return lengthName(words, window)
  const most = typeof burst === 'number' ? String(burst) : `${Math.round(burst.share * 100)} %`
  return words.burst(lengthName(words, window), most)
}

/** The length alone if the label says the same (`5h`, `minute`), else both. */
function lengthName({ lengthOf, periods }: Words, { label, lengthMs, every }: WindowDefinition): string {
  if (every !== undefined) return label === every ? periods[every] : `${label} (${periods[every]})`
  if (lengthMs === null) return label
  const [, count = '1', letter] = /^(\d+)([dhms])$/.exec(label) ?? []
  const said = UNITS.find((each) => each.letter === letter || each.unit === label)
  if (said !== undefined && Number(count) * said.ms === lengthMs) return lengthOf(Number(count), said.unit)
  const largest = UNITS.find(({ ms }) => lengthMs % ms === 0)
  return largest === undefined ? label : `${label} (${lengthOf(lengthMs / largest.ms, largest.unit)})`
}

function own(texts: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
