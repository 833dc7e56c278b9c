import type { JSX } from 'preact'

/**
 * Characters that are invisible or change how other text looks: direction controls, joiners, zero-width spaces,
 * fillers, and unusual spaces.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800]|(?!\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}|(?! |\u3000)\p{Zs}/gu
/** Several emoji may be joined into one. */
const JOINED = /(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d(?=\p{Extended_Pictographic})/gu

/**
 * A name that a person chose. It's isolated, so that it can't change the text around it. Invisible characters are
 * spelled out, so that different names look different.
 */
export function Text({ children: text }: { children: string }): JSX.Element {
  return (
    <bdi>
      {partsOf(text).map(({ at, shown, isUnseen }) =>
        isUnseen ? (
          <span key={at} class="unseen">
            {shown}
          </span>
        ) : (
          shown
        ),
      )}
    </bdi>
  )
}

/** The same for plain text: labels, titles and sentences. */
export function plain(text: string): string {
  const shown = partsOf(text)
    .map((part) => (part.isUnseen ? `[${part.shown}]` : part.shown))
    .join('')
  // First strong isolate and its end, which do for text what `bdi` does in HTML.
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(shown) ? `\u2068${shown}\u2069` : shown
}

interface Part {
  readonly at: number
  readonly shown: string
  readonly isUnseen: boolean
}

function partsOf(text: string): Part[] {
  const joins = new Set([...text.matchAll(JOINED)].map(({ index }) => index))
  const parts: Part[] = []
  let from = 0
  for (const { 0: found, index } of text.matchAll(UNSEEN)) {
    if (joins.has(index)) continue
    if (index > from) parts.push({ at: from, shown: text.slice(from, index), isUnseen: false })
    parts.push({ at: index, shown: codeOf(found), isUnseen: true })
    from = index + found.length
  }
  if (from < text.length) parts.push({ at: from, shown: text.slice(from), isUnseen: false })
  return parts
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
