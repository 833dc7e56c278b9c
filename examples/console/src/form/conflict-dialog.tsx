import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog } from '../ui/dialog.tsx'
import { Scroll } from '../ui/scroll.tsx'
import { useWords } from '../words/words.ts'
import { type Choice, type Difference, differences, merged, obviousChoice } from './merge.ts'
import type { Editor, Version } from './use-editor.ts'

interface ConflictProps {
  readonly editor: Editor
  nameOf(path: string): string
  /** The value of a field, as text for people. */
  textOf(path: string, text: string): string
}

/** Shows where both versions differ after someone else saved first, and lets the person choose. It stores nothing. */
export function ConflictDialog(props: ConflictProps): JSX.Element | null {
  const { stored, theirs } = props.editor
  if (stored === undefined || theirs === undefined) return null
  return <Conflict key={theirs.etag} {...props} stored={stored} theirs={theirs} />
}

function Conflict({
  editor,
  stored,
  theirs,
  ...names
}: ConflictProps & Record<'stored' | 'theirs', Version>): JSX.Element {
  const words = useWords()
  const found = differences(stored.fields, theirs.fields, editor.draft)
  const [choices, setChoices] = useState(() => everywhere(found, obviousChoice))
  const undecided = found.filter(({ path }) => choices[path] === undefined).length
  return (
    <Dialog title={words.conflict.title} isWide onClose={editor.dismiss}>
      <p>{words.conflict.about}</p>
      {found.length === 0 ? (
        <p>{words.conflict.same}</p>
      ) : (
        <Choices found={found} choices={choices} onChoices={setChoices} {...names} />
      )}
      <p role="status">{undecided > 0 ? words.conflict.undecided(undecided) : words.conflict.decided}</p>
      <p class="buttons">
        <button
          type="button"
          class="primary"
          disabled={undecided > 0}
          onClick={() => editor.resolve(merged(theirs.fields, found, choices))}
        >
          {words.conflict.take}
        </button>
        <button type="button" onClick={() => setChoices(everywhere(found, () => 'theirs'))}>
          {words.conflict.allTheirs}
        </button>
        <button type="button" onClick={() => setChoices(everywhere(found, () => 'mine'))}>
          {words.conflict.allMine}
        </button>
        <button type="button" onClick={editor.dismiss}>
          {words.cancel}
        </button>
      </p>
    </Dialog>
  )
}

type Chosen = Readonly<Record<string, Choice>>

interface ChoicesProps extends Omit<ConflictProps, 'editor'> {
  readonly found: readonly Difference[]
  readonly choices: Chosen
  onChoices(choices: Chosen): void
}

function Choices({ found, choices, onChoices, nameOf, textOf }: ChoicesProps): JSX.Element {
  const words = useWords()
  return (
    <Scroll label={words.conflict.title}>
      <table class="choices">
        <thead>
          <tr>
            <th scope="col">{words.conflict.item}</th>
            <th scope="col">{words.conflict.was}</th>
            <th scope="col">{words.conflict.theirs}</th>
            <th scope="col">{words.conflict.mine}</th>
          </tr>
        </thead>
        <tbody>
          {found.map((each) => (
            <tr key={each.path} class={choices[each.path] === undefined ? 'undecided' : ''}>
              <th scope="row">{nameOf(each.path)}</th>
              <td>{textOf(each.path, each.was)}</td>
              {(['theirs', 'mine'] as const).map((choice) => (
                <td key={choice}>
                  <label class="choice">
                    <input
                      type="radio"
                      name={each.path}
                      aria-label={`${nameOf(each.path)}: ${words.conflict[choice]}, ${textOf(each.path, each[choice])}`}
                      checked={choices[each.path] === choice}
                      onChange={() => onChoices({ ...choices, [each.path]: choice })}
                    />
                    <span class={each[choice] === each.was ? '' : 'changed'}>{textOf(each.path, each[choice])}</span>
                  </label>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function everywhere(found: readonly Difference[], choose: (each: Difference) => Choice | undefined): Chosen {
  return Object.fromEntries(
    found.flatMap((each) => {
      const choice = choose(each)
      return choice === undefined ? [] : [[each.path, choice] as const]
    }),
  )
}
