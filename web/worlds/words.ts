/** The words of the two worlds, in the languages of the page. */
export interface WorldWords {
  readonly title: string
  readonly says: (code: string) => string
  readonly bytes: (count: string) => string
  readonly differ: (count: string) => string
  readonly said: string
  readonly known: string
  readonly forgotten: string
  readonly readable: string
  readonly gone: string
  readonly remember: string
  readonly forget: string
  readonly again: string
  readonly note: string
}

const en: WorldWords = {
  title: 'Forgotten means: nothing can tell the two apart',
  says: (code) => `“My code is ${code}.”`,
  bytes: (count) => `${count} bytes kept`,
  differ: (count) => `${count} bytes differ`,
  said: 'It was said.',
  known: 'It was said, and is remembered as a fact.',
  forgotten: 'It was forgotten in both.',
  readable: 'the code can be read',
  gone: 'the code is nowhere',
  remember: 'Remember it',
  forget: 'Forget it',
  again: 'Begin again',
  note: 'Two memories are kept in this page, with the same clock, ids and key, and all of their bytes are compared. Once a model was called, hashes of what was sent remain, made with a secret key: the text cannot be read from them.',
}

const de: WorldWords = {
  title: 'Vergessen heißt: Nichts unterscheidet die beiden',
  says: (code) => `„Mein Code ist ${code}.“`,
  bytes: (count) => `${count} Byte gespeichert`,
  differ: (count) => `${count} Byte verschieden`,
  said: 'Es wurde gesagt.',
  known: 'Es wurde gesagt und als Fakt gemerkt.',
  forgotten: 'Es wurde in beiden vergessen.',
  readable: 'der Code ist lesbar',
  gone: 'der Code ist nirgends',
  remember: 'Merken',
  forget: 'Vergessen',
  again: 'Von vorn',
  note: 'Zwei Gedächtnisse in dieser Seite, mit gleicher Uhr, gleichen Ids und gleichem Schlüssel; alle Bytes, die sie speichern, werden verglichen. Wurde ein Modell aufgerufen, bleiben Hashes des Gesendeten, mit einem geheimen Schlüssel gebildet: Der Text lässt sich daraus nicht lesen.',
}

const fr: WorldWords = {
  title: 'Oublié veut dire : rien ne distingue les deux',
  says: (code) => `« Mon code est ${code}. »`,
  bytes: (count) => `${count} octets stockés`,
  differ: (count) => `${count} octets différents`,
  said: 'Cela a été dit.',
  known: 'Cela a été dit, et retenu comme un fait.',
  forgotten: 'Cela a été oublié dans les deux.',
  readable: 'le code est lisible',
  gone: 'le code n’est nulle part',
  remember: 'Retenir',
  forget: 'Oublier',
  again: 'Recommencer',
  note: 'Deux mémoires dans cette page, avec la même horloge, les mêmes identifiants et la même clé ; tous les octets stockés sont comparés. Après l’appel d’un modèle restent des empreintes de ce qui a été envoyé, faites avec une clé secrète : on ne peut pas y lire le texte.',
}

const es: WorldWords = {
  title: 'Olvidado significa: nada distingue a las dos',
  says: (code) => `«Mi código es ${code}.»`,
  bytes: (count) => `${count} bytes guardados`,
  differ: (count) => `${count} bytes distintos`,
  said: 'Se dijo.',
  known: 'Se dijo, y se recuerda como un hecho.',
  forgotten: 'Se olvidó en las dos.',
  readable: 'el código se puede leer',
  gone: 'el código no está en ninguna parte',
  remember: 'Recordar',
  forget: 'Olvidar',
  again: 'Empezar de nuevo',
  note: 'Dos memorias en esta página, con el mismo reloj, los mismos identificadores y la misma clave; se comparan todos los bytes que guardan. Tras llamar a un modelo quedan huellas de lo enviado, hechas con una clave secreta: en ellas no se puede leer el texto.',
}

const ar: WorldWords = {
  title: 'النسيان يعني: لا شيء يميّز بين الاثنتين',
  says: (code) => `«رمزي هو ${code}.»`,
  bytes: (count) => `بايتات مخزّنة: ${count}`,
  differ: (count) => `بايتات مختلفة: ${count}`,
  said: 'قيل ذلك.',
  known: 'قيل ذلك، وحُفظ كحقيقة.',
  forgotten: 'نُسي في الاثنتين.',
  readable: 'يمكن قراءة الرمز',
  gone: 'الرمز غير موجود في أي مكان',
  remember: 'احفظه',
  forget: 'انسَه',
  again: 'البدء من جديد',
  note: 'ذاكرتان في هذه الصفحة بالساعة والمعرّفات والمفتاح نفسها، وتُقارن كل البايتات التي تخزّنانها. بعد استدعاء نموذج تبقى بصمات لما أُرسل، صُنعت بمفتاح سري: لا يمكن قراءة النص منها.',
}

const ja: WorldWords = {
  title: '忘れるとは、二つを見分けられなくなること',
  says: (code) => `「私のコードは ${code} です。」`,
  bytes: (count) => `保存 ${count} バイト`,
  differ: (count) => `${count} バイトが異なる`,
  said: '話されました。',
  known: '話され、事実として記憶されました。',
  forgotten: '両方で忘れられました。',
  readable: 'コードを読めます',
  gone: 'コードはどこにもありません',
  remember: '記憶する',
  forget: '忘れる',
  again: '最初から',
  note: 'このページの中の二つの記憶は、時計、ID、鍵が同じで、保存したすべてのバイトを比べます。モデルを呼び出した後は、送った内容から秘密の鍵で作ったハッシュが残りますが、そこから本文は読めません。',
}

const catalogue: Readonly<Record<string, WorldWords>> = { en, de, fr, es, ar, ja }

/** @param language one of the page */
export function worldWords(language: string): WorldWords {
  return catalogue[language] ?? en
}
