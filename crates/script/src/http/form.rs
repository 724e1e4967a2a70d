//! Bodies given as objects: forms and files.

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Class, Ctx, Object, Value};
use wire::{FormPart, encode_form, encode_multipart};

use crate::js::{self, Args, js_lifetime};

/// The result of `http.file()`.
pub(crate) struct FormFile {
    data: Vec<u8>,
    filename: String,
    content_type: String,
}
js_lifetime!(FormFile);

impl<'js> Trace<'js> for FormFile {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for FormFile {
    const NAME: &'static str = "FileData";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

/// `file(data, filename?, contentType?)`
pub(super) fn file<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let data = args.get(0);
    let bytes = match js::bytes_of(&data) {
        Some(bytes) => bytes,
        None if data.is_string() => args.string(0)?.into_bytes(),
        None => {
            return Err(args.type_error("invalid type for file data: expected a string or an ArrayBuffer"));
        }
    };
    let filename = match args.given(1) {
        Some(_) => args.string(1)?,
        None => model::SystemClock::now().as_ns().to_string(),
    };
    let content_type = match args.given(2) {
        Some(_) => args.string(2)?,
        None => "application/octet-stream".into(),
    };
    let file = FormFile { data: bytes, filename: filename.clone(), content_type: content_type.clone() };
    let object = Class::instance(args.ctx.clone(), file)?.into_inner();
    object.set("data", data)?;
    object.set("filename", filename)?;
    object.set("content_type", content_type)?;
    Ok(object.into_value())
}

/// An encoded body.
pub(super) struct Form {
    pub(super) body: Vec<u8>,
    pub(super) content_type: String,
}

/// A field's value before it is encoded.
enum Field<'js> {
    Text(String),
    File(Class<'js, FormFile>),
}

/// Encodes an object: as `multipart/form-data` when a file is among its values, otherwise URL-encoded.
pub(super) fn encode<'js>(args: &Args<'_, 'js>, object: &Object<'js>) -> rquickjs::Result<Form> {
    let mut fields: Vec<(String, Field<'js>)> = Vec::new();
    for entry in object.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        push_field(args, &mut fields, name, &value)?;
    }
    if fields.iter().any(|(_, field)| matches!(field, Field::File(_))) {
        return Ok(multipart(&fields));
    }
    let pairs: Vec<(&str, &str)> = fields
        .iter()
        .filter_map(|(name, field)| match field {
            Field::Text(text) => Some((name.as_str(), text.as_str())),
            Field::File(_) => None,
        })
        .collect();
    Ok(Form {
        body: encode_form(&pairs).into_bytes(),
        content_type: "application/x-www-form-urlencoded".into(),
    })
}

fn push_field<'js>(
    args: &Args<'_, 'js>,
    fields: &mut Vec<(String, Field<'js>)>,
    name: String,
    value: &Value<'js>,
) -> rquickjs::Result<()> {
    if let Some(items) = value.as_array() {
        for item in items.iter::<Value<'js>>() {
            push_field(args, fields, name.clone(), &item?)?;
        }
        return Ok(());
    }
    if let Some(object) = value.as_object() {
        if let Some(file) = Class::<FormFile>::from_object(object) {
            fields.push((name, Field::File(file)));
            return Ok(());
        }
        args.vu.warn(format!(
            "the form field \"{name}\" is an object, which no form can hold; it is sent empty"
        ));
        fields.push((name, Field::Text(String::new())));
        return Ok(());
    }
    let text =
        if value.is_null() || value.is_undefined() { String::new() } else { js::to_string(args.ctx, value)? };
    fields.push((name, Field::Text(text)));
    Ok(())
}

fn multipart(fields: &[(String, Field<'_>)]) -> Form {
    let files: Vec<_> = fields
        .iter()
        .map(|(name, field)| match field {
            Field::Text(text) => (name, Some(text), None),
            Field::File(file) => (name, None, Some(file.borrow())),
        })
        .collect();
    let parts: Vec<FormPart<'_>> = files
        .iter()
        .filter_map(|(name, text, file)| match (text, file) {
            (Some(value), _) => Some(FormPart::Field { name, value }),
            (None, Some(file)) => Some(FormPart::File {
                name,
                filename: &file.filename,
                content_type: &file.content_type,
                data: &file.data,
            }),
            (None, None) => None,
        })
        .collect();
    let encoded = encode_multipart(&parts);
    Form { body: encoded.body, content_type: encoded.content_type }
}
