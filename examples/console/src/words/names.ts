import { useMemo } from 'preact/hooks'
import type { Words } from './en.ts'
import { useWords } from './words.ts'

/** Names of layers, categories and windows in a language. Unknown ones are shown as they are. */
export interface Names {
  layer(name: string): string
  category(name: string): string
  window(label: string): string
  /** Layer, category and window together. */
  cell(layer: string, category: string, window: string): string
  /** A limit by the gateway's name for it, such as `personal-read-1h`. */
  limit(name: string): string
}

function namesOf({ layers, categories, windows, windowOf }: Words): Names {
  // The gateway reports a layer by its name or by its scope: `site` or `Site`.
  const layer = (name: string): string => own(layers, name.toLowerCase()) ?? name
  const category = (name: string): string => own(categories, name) ?? name
  const window = (label: string): string => own(windows, label) ?? label
  const cell: Names['cell'] = (a, b, c) => windowOf(layer(a), category(b), window(c))
  const limit = (name: string): string => {
    const [ofLayer = '', ofCategory = '', ofWindow] = name.split('-')
    return ofWindow === undefined ? name : cell(ofLayer, ofCategory, ofWindow)
  }
  return { layer, category, window, cell, limit }
}

export function useNames(): Names {
  const words = useWords()
  return useMemo(() => namesOf(words), [words])
}

function own(texts: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined
}
