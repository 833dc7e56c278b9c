/** What a text holds as JSON; `undefined` for any other text. The parser's error is dropped: it quotes the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
