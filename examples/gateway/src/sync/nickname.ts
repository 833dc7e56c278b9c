/** Most characters of a name that are kept. */
const MOST = 64
/** More than that is not looked at. */
const MOST_READ = 4_096

/**
 * A name as it can be stored and shown: on one line, without characters that no database keeps, cut. A faulty name
 * must not cost the scores that come with it.
 *
 * @returns `undefined` where nothing is left
 */
export function cleanNickname(text: string): string | undefined {
  const clean = text
    .slice(0, MOST_READ)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029\ufffd]+/gu, ' ')
    .trim()
  const cut = [...clean].slice(0, MOST).join('').trim()
  return cut === '' ? undefined : cut
}
