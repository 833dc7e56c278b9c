import type { ComponentChildren, JSX } from 'preact'
import { ErrorNotice } from '../ui/notice.tsx'
import type { Editor } from '../ui/use-editor.ts'
import { useWords } from '../words/words.ts'

interface SaveBarProps {
  readonly editor: Editor
  nameOf(path: string): string
  readonly children?: ComponentChildren
}

/** How many changes are unsaved, and what came of saving. */
export function SaveBar({ editor, nameOf, children }: SaveBarProps): JSX.Element {
  const words = useWords()
  const { changed, faults, isBusy, isSaved, isTried, error, warnings } = editor
  const hasFaults = Object.keys(faults).length > 0
  return (
    <div class="save-bar">
      <ErrorNotice error={error} />
      {isTried && hasFaults && (
        <p class="notice bad" role="alert">
          {words.faults}
        </p>
      )}
      {warnings.length > 0 && (
        <div class="notice warning" role="alert">
          <p>{words.warnings}</p>
          <ul>
            {warnings.map(({ path, msg }) => (
              <li key={path}>
                {nameOf(path)}: {msg}
              </li>
            ))}
          </ul>
        </div>
      )}
      <div class="buttons">
        <button type="submit" class="primary" disabled={isBusy || changed.length === 0}>
          {isBusy ? words.saving : words.save}
        </button>
        <button type="button" disabled={isBusy || changed.length === 0} onClick={editor.discard}>
          {words.discard}
        </button>
        {children}
        <span role="status" class="quiet">
          {summary(words, changed.length, isSaved)}
        </span>
      </div>
    </div>
  )
}

function summary(words: ReturnType<typeof useWords>, count: number, isSaved: boolean): string {
  if (count > 0) return words.changes(count)
  return isSaved ? words.saved : words.noChanges
}
