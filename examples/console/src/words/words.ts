import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { en, type Words } from './en.ts'
import { type Formats, formatsOf } from './formats.ts'
import { zh } from './zh.ts'

const WORDS = { en, 'zh-CN': zh } as const

export type Language = keyof typeof WORDS
export const LANGUAGES = Object.keys(WORDS) as Language[]

/** One value per language. */
export type Texts<T> = Readonly<Record<Language, T>>

/** A language and everything needed to speak it. */
export interface Speech {
  readonly language: Language
  readonly words: Words
  readonly formats: Formats
}

export function speechOf(language: Language): Speech {
  return { language, words: WORDS[language], formats: formatsOf(language) }
}

/** The first supported language among the browser's. */
export function preferredLanguage(wanted: readonly string[]): Language {
  const primary = wanted.map((tag) => tag.toLowerCase().split('-')[0]).find((tag) => tag === 'en' || tag === 'zh')
  return primary === 'zh' ? 'zh-CN' : 'en'
}

export const SpeechContext: ReturnType<typeof createContext<Speech>> = createContext(speechOf('en'))

export function useWords(): Words {
  return useContext(SpeechContext).words
}

/** The value for the console's language. */
export function useTexts<T>(texts: Texts<T>): T {
  return texts[useSpeech().language]
}

export function useSpeech(): Speech {
  return useContext(SpeechContext)
}

export function useFormats(): Formats {
  return useContext(SpeechContext).formats
}
