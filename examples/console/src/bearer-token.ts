/**
 * A credential as copied by a person: perhaps with the header field and the scheme, in quotes, over two lines, or with
 * invisible characters.
 *
 * @returns `undefined`: no credential has such characters
 */
export function bearerToken(pasted: string): string | undefined {
  const text = pasted
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\p{Cc}\s]+/gu, ' ')
    .trim()
    .replace(/^["'`]|["'`]$/g, '')
    .replace(/^(?:authorization ?: ?)?(?:bearer(?: |$))?/i, '')
    .replaceAll(' ', '')
  return /^[!-~]+$/.test(text) ? text : undefined
}
