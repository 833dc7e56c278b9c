/**
 * Cleans up a pasted credential: removes the header name and the scheme, quotes, line breaks and invisible characters.
 *
 * @returns `undefined` if it contains characters that no credential has
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
