// Takes the sentences out of pages and docstrings.

/** @typedef {{ readonly file: string, readonly line: number, readonly text: string }} Sentence */

/** The sentences of a page, without code, tables, headings and what stands between tags. */
export function sentencesOfPage(file, text) {
  const prose = blanked(text, [
    /^---\n[\s\S]*?\n---$/m,
    /^(?<fence>```+|~~~+)[\s\S]*?^\k<fence>$/gm,
    /<!--[\s\S]*?-->|<script[\s\S]*?<\/script>|<style[\s\S]*?<\/style>/g,
    /^(?:#|\||:::|\[\^?[^\]]+\]:).*$/gm,
  ])
  return sentences(file, prose)
}

/** The sentences of a source's docstrings, without their examples. */
export function sentencesOfDocstrings(file, text) {
  return [...text.matchAll(/\/\*\*[\s\S]*?\*\//g)].flatMap(({ 0: docstring, index }) => {
    const lines = docstring.replace(/^\/\*\*|\*\/$/g, '').replaceAll(/^[ \t]*\* ?/gm, '')
    const prose = blanked(lines, [/^```[\s\S]*?^```$/gm, /^[|#].*$/gm]).replaceAll(/^@\w+/gm, '\n$&')
    return sentences(file, prose, lineOf(text, index))
  })
}

/** Words as a reader counts them: a piece of code is one. */
export function wordsIn(text) {
  return text
    .replaceAll(/`[^`]+`/g, 'code')
    .replaceAll(/!?\[(?<shown>[^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?/g, '$<shown>')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
}

export function lineOf(text, index) {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line += 1
  return line
}

/** Paragraphs and list items end sentences too. */
function sentences(file, prose, firstLine = 1) {
  const found = []
  for (const { 0: block, index } of prose.matchAll(/(?:(?!\n\s*\n|\n\s*(?:[-*+]|\d+\.)\s)[\s\S])+/g)) {
    for (const { 0: sentence, index: within } of block.matchAll(/\S[\s\S]*?(?:[.!?](?=["')\]*_]*(?:\s|$))|$)/g)) {
      if (wordsIn(sentence).length === 0) continue
      const line = firstLine + lineOf(prose, index + within) - 1
      found.push({ file, line, text: sentence.trim().replaceAll(/\s+/g, ' ') })
    }
  }
  return found
}

/** Keeps the lines, so that they can be counted. */
function blanked(text, patterns) {
  return patterns.reduce((left, pattern) => left.replace(pattern, (cut) => cut.replaceAll(/[^\n]/g, '')), text)
}
