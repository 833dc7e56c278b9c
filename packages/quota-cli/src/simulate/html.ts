/** A piece of HTML. {@link html} escapes everything that is not such a piece. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | readonly Html[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Builds HTML. Texts are escaped; control characters and direction marks are removed. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const written = strings.map((text, index) => text + (index < parts.length ? partText(parts[index] ?? '') : ''))
  return new Html(written.join(''))
}

function partText(part: Part): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return String(part)
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
