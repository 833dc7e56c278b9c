import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { EditorForm } from '../../form/editor-form.tsx'
import { useEditor } from '../../form/use-editor.ts'
import { IssuedCredential } from '../../pages/credentials/issued-credential.tsx'
import { hrefOf } from '../../route.ts'
import { useApi, usePolicy } from '../../session.ts'
import { Switch } from '../../ui/choice.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import { Done, ErrorNotice } from '../../ui/notice.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useResource } from '../../ui/use-resource.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { putWebhook, readWebhook, removeWebhook, rotateWebhook, testWebhook, type WebhookChange } from './alerts-api.ts'
import { layerOf, layerPath, webhookFields, webhookOf } from './webhook-fields.ts'
import { useAlertsWords } from './words.ts'

/** A new secret is shown once. */
export function WebhookCard({ onTested }: { onTested(): void }): JSX.Element {
  const words = useWords()
  const alerts = useAlertsWords()
  const names = useNames()
  const api = useApi()
  const layers = usePolicy().layers.map(({ name }) => name)
  const action = useAction()
  const [secret, setSecret] = useState<string>()
  const [done, setDone] = useState('')
  const [question, setQuestion] = useState<'rotate' | 'remove'>()
  const editor = useEditor(
    {
      href: hrefOf('alerts'),
      form: 'webhook',
      load: () => readWebhook(api),
      async store(body: WebhookChange, etag) {
        setDone('')
        const { secret: made, ...stored } = await putWebhook(api, body, etag)
        if (made !== null) setSecret(made)
        return stored
      },
      toFields: (document) => webhookFields(layers, document),
      read: (fields) => webhookOf(layers, fields),
    },
    [api],
  )
  const { stored } = editor
  const nameOf = (path: string): string => {
    const layer = layerOf(path)
    return layer === undefined ? alerts.url : `${alerts.layers}: ${names.layer(layer)}`
  }
  const textOf = (path: string, text: string): string => {
    if (layerOf(path) !== undefined) return text === 'true' ? '✓' : words.settings.off
    return text === '' ? words.none : text
  }

  const refused = editor.error?.details.find(({ path }) => path === 'url')?.msg
  const missing =
    editor.isTried && editor.faults.url !== undefined ? words.settings.faults[editor.faults.url] : undefined

  const test = async (): Promise<void> => {
    setDone('')
    const isSent = await action.run(async () => {
      await testWebhook(api)
      onTested()
    })
    if (isSent) setDone(alerts.tested)
  }
  const rotate = async (): Promise<void> => {
    setDone('')
    setSecret(await rotateWebhook(api))
    await editor.reload()
  }
  const remove = async (): Promise<void> => {
    await removeWebhook(api, stored?.etag ?? '')
    editor.discard()
    await editor.reload()
    setDone(alerts.removed)
  }

  return (
    <section aria-labelledby="webhook">
      <h2 id="webhook">{alerts.where}</h2>
      {secret !== undefined && (
        <>
          <h3>{alerts.secretOnce}</h3>
          <IssuedCredential token={secret} onDone={() => setSecret(undefined)} />
        </>
      )}
      {/* A rejected address is reported below its field. */}
      <EditorForm
        editor={refused === undefined ? editor : { ...editor, error: undefined }}
        lines={8}
        nameOf={nameOf}
        textOf={textOf}
      >
        <Field label={alerts.url} about={alerts.urlAbout} fault={missing ?? refused}>
          {(props) => (
            <input
              {...props}
              class={editor.changed.includes('url') ? 'changed' : ''}
              inputMode="url"
              spellcheck={false}
              autocomplete="off"
              maxLength={2_048}
              value={editor.draft.url}
              onInput={(event) => editor.set('url', event.currentTarget.value)}
            />
          )}
        </Field>
        <fieldset class="shadow">
          <legend>{alerts.layers}</legend>
          {layers.map((name) => (
            <Switch
              key={name}
              label={names.layer(name)}
              isOn={editor.draft[layerPath(name)] === 'true'}
              onChange={(isOn) => editor.set(layerPath(name), String(isOn))}
            />
          ))}
        </fieldset>
      </EditorForm>
      {stored !== undefined && stored.fields.url !== '' && (
        <>
          <RotatedUntil etag={stored.etag} />
          <p class="buttons">
            <button type="button" disabled={action.isBusy} onClick={() => void test()}>
              {alerts.test}
            </button>
            <button type="button" onClick={() => setQuestion('rotate')}>
              {alerts.rotate}
            </button>
            <button type="button" class="danger" onClick={() => setQuestion('remove')}>
              {alerts.remove}
            </button>
          </p>
        </>
      )}
      <ErrorNotice error={action.error} />
      <Done>{done}</Done>
      {question !== undefined && (
        <Confirm
          title={question === 'rotate' ? alerts.rotateTitle : alerts.removeTitle}
          about={question === 'rotate' ? alerts.rotateAbout : alerts.removeAbout}
          yes={alerts[question]}
          isHarmless={question === 'rotate'}
          act={question === 'rotate' ? rotate : remove}
          onClose={() => setQuestion(undefined)}
        />
      )}
    </section>
  )
}

/** Until when the previous secret still signs. Each version may have another date. */
function RotatedUntil({ etag }: { etag: string }): JSX.Element | null {
  const alerts = useAlertsWords()
  const formats = useFormats()
  const api = useApi()
  const { data } = useResource(() => readWebhook(api), [api, etag])
  const until = data?.document.rotatedUntil ?? null
  return until === null ? null : <p class="quiet small">{alerts.rotated(formats.dateTime(until))}</p>
}
