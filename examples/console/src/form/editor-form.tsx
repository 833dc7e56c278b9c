import type { ComponentChildren, JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Skeleton } from '../ui/loaded.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { useWords } from '../words/words.ts'
import { ConflictDialog } from './conflict-dialog.tsx'
import type { Editor } from './use-editor.ts'

interface EditorFormProps {
  readonly editor: Editor
  /** Lines kept free until the document is loaded. */
  readonly lines: number
  /** The name of a field. */
  nameOf(path: string): string
  /** The value of a field, as text for people. */
  textOf(path: string, text: string): string
  /** @default saves the document */
  onSubmit?(): void
  /** More buttons next to Save. */
  readonly buttons?: ComponentChildren
  readonly children: ComponentChildren
}

/** The fields of a document, the bar that saves them, and the choice if someone else saved first. */
export function EditorForm(props: EditorFormProps): JSX.Element {
  const { editor, lines, nameOf, textOf, onSubmit, buttons, children } = props
  if (editor.stored === undefined) {
    return (
      <>
        <ErrorNotice error={editor.error} retry={() => void editor.reload()} />
        {editor.error === undefined && <Skeleton lines={lines} />}
      </>
    )
  }
  return (
    <>
      <form
        autocomplete="off"
        onSubmit={(event) => {
          event.preventDefault()
          if (onSubmit === undefined) void editor.save()
          else onSubmit()
        }}
      >
        {children}
        <SaveBar editor={editor} nameOf={nameOf}>
          {buttons}
        </SaveBar>
      </form>
      <ConflictDialog editor={editor} nameOf={nameOf} textOf={textOf} />
    </>
  )
}

interface SaveBarProps {
  readonly editor: Editor
  nameOf(path: string): string
  readonly children?: ComponentChildren
}

/** Counts unsaved changes and reports the result of saving. The buttons are shown while there is something to save. */
function SaveBar({ editor, nameOf, children }: SaveBarProps): JSX.Element {
  const words = useWords()
  const { changed, faults, isBusy, isSaved, isTried, error, warnings } = editor
  // It stays in view after saving, so that nothing scrolls to the result.
  const isNeeded = changed.length > 0 || isSaved || error !== undefined || warnings.length > 0
  const status = useFocusWhenGone(changed.length > 0)
  const hasFaults = Object.keys(faults).length > 0
  return (
    <div class={isNeeded ? 'save-bar' : 'save-bar idle'}>
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
        {changed.length > 0 && (
          <>
            <button type="submit" class="primary" disabled={isBusy}>
              {isBusy ? words.saving : words.save}
            </button>
            <button type="button" disabled={isBusy} onClick={editor.discard}>
              {words.discard}
            </button>
          </>
        )}
        {children}
        <span role="status" class="quiet" tabIndex={-1} ref={status}>
          {summary(words, changed.length, isSaved)}
        </span>
      </div>
    </div>
  )
}

/** When the buttons disappear with the focus, moves it to what replaces them. */
function useFocusWhenGone(hasButtons: boolean): { current: HTMLElement | null } {
  const left = useRef<HTMLElement>(null)
  const had = useRef(hasButtons)
  useLayoutEffect(() => {
    if (had.current && !hasButtons && document.activeElement === document.body)
      left.current?.focus({ preventScroll: true })
    had.current = hasButtons
  }, [hasButtons])
  return left
}

function summary(words: ReturnType<typeof useWords>, count: number, isSaved: boolean): string {
  if (count > 0) return words.changes(count)
  return isSaved ? words.saved : ''
}
