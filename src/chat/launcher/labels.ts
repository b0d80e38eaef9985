import { languageIn } from '../strings/base.ts'

/** The few words that are needed before a language is loaded. */
export interface LauncherLabels {
  readonly open: string
  readonly close: string
  readonly opening: string
  readonly openFailed: string
  readonly tryAgain: string
}

type Labels = readonly [string, string, string, string, string]

const LABELS: Readonly<Record<string, Labels>> = {
  ar: ['فتح المحادثة', 'إغلاق المحادثة', 'جارٍ فتح المحادثة', 'تعذّر فتح المحادثة.', 'إعادة المحاولة'],
  de: [
    'Chat öffnen',
    'Chat schließen',
    'Der Chat wird geöffnet',
    'Der Chat ließ sich nicht öffnen.',
    'Noch einmal versuchen',
  ],
  en: ['Open chat', 'Close chat', 'Opening the chat', 'The chat could not be opened.', 'Try again'],
  es: ['Abrir el chat', 'Cerrar el chat', 'Abriendo el chat', 'No se pudo abrir el chat.', 'Reintentar'],
  fr: [
    'Ouvrir le chat',
    'Fermer le chat',
    'Ouverture du chat',
    'Le chat n’a pas pu être ouvert.',
    'Réessayer',
  ],
  ja: [
    'チャットを開く',
    'チャットを閉じる',
    'チャットを開いています',
    'チャットを開けませんでした。',
    'もう一度試す',
  ],
}

/** @param own texts of the app, which win */
export function labelsFor(language: string, own: Partial<LauncherLabels> = {}): LauncherLabels {
  const [open, close, opening, openFailed, tryAgain] = LABELS[languageIn(LABELS, language)] as Labels
  return { open, close, opening, openFailed, tryAgain, ...own }
}
