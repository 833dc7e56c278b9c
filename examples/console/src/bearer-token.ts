/**
 * A credential as somebody has copied it: with the field and the scheme that it goes with, in quotes, over two lines, or
 * with characters that nobody sees.
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
