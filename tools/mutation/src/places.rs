//! The mutants of a file and their places. Patterns, types, constants, macros and tests have none.

use std::collections::HashSet;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, ReturnType, Signature, Stmt, Type};

/// A mutant: `before` and `after` are put around the text at `range`, with `#` for the mutant's number.
pub(crate) struct Place {
    pub(crate) kind: &'static str,
    pub(crate) range: Range<usize>,
    pub(crate) before: String,
    pub(crate) after: &'static str,
    /// An operator that becomes a comma.
    pub(crate) operator: Option<Range<usize>>,
    /// Where the innermost statement or match arm around it begins.
    pub(crate) statement: Option<usize>,
    /// The functions, implementations and traits around it, the outermost first: from their start to their body.
    pub(crate) items: Vec<Range<usize>>,
}

#[derive(Default)]
pub(crate) struct Places {
    pub(crate) found: Vec<Place>,
    /// The conditions that have mutants for both values.
    conditions: HashSet<(usize, usize)>,
    statement: Option<usize>,
    items: Vec<Range<usize>>,
}

impl Places {
    fn around(&mut self, kind: &'static str, range: Range<usize>, before: &str, after: &'static str) {
        self.push(kind, range, before, after, None);
    }

    fn push(
        &mut self,
        kind: &'static str,
        range: Range<usize>,
        before: &str,
        after: &'static str,
        operator: Option<Range<usize>>,
    ) {
        let (before, statement, items) = (before.to_owned(), self.statement, self.items.clone());
        self.found.push(Place { kind, range, before, after, operator, statement, items });
    }

    /// Visits an item that has `head` before its body.
    fn item(&mut self, head: Range<usize>, visit: impl FnOnce(&mut Self)) {
        let statement = self.statement.take();
        self.items.push(head);
        visit(self);
        self.items.pop();
        self.statement = statement;
    }

    /// Visits a statement or match arm that begins at `start`.
    fn statement(&mut self, start: usize, visit: impl FnOnce(&mut Self)) {
        let outer = self.statement.replace(start);
        visit(self);
        self.statement = outer;
    }

    fn condition(&mut self, condition: &Expr, may_be_true: bool) {
        if is_bound(condition) {
            return;
        }
        let range = condition.span().byte_range();
        if !self.conditions.insert((range.start, range.end)) {
            return;
        }
        self.around("false", range.clone(), "((", ") & !crate::mutant::is(#))");
        if may_be_true {
            self.around("true", range, "((", ") | crate::mutant::is(#))");
        }
    }

    /// A function that begins at `start`: its body is skipped, or changed in places.
    fn function(&mut self, start: usize, signature: &Signature, attributes: &[Attribute], block: &Block) {
        if is_test(attributes) || signature.constness.is_some() {
            return;
        }
        let brace = block.brace_token.span.open().byte_range();
        let results: &[(&str, &str)] = match &signature.output {
            ReturnType::Default => &[("returns at once", "return;")],
            ReturnType::Type(_, result) => match first_name(result).as_deref() {
                Some("bool") => &[("returns true", "return true;"), ("returns false", "return false;")],
                Some("Option") => &[("returns None", "return None;")],
                _ => &[],
            },
        };
        let value = only_value(block).map(|value| format!("return {value};"));
        self.item(start..brace.start, |places| {
            for (kind, result) in results {
                // A body that is nothing but this value would stay the same.
                if !block.stmts.is_empty() && value.as_deref() != Some(*result) {
                    places.around(kind, brace.end..brace.end, &format!(" if crate::mutant::is(#) {{ {result} }}"), "");
                }
            }
            places.visit_block(block);
        });
    }
}

/// The value of a body that is one literal or one name.
fn only_value(block: &Block) -> Option<String> {
    match &block.stmts[..] {
        [Stmt::Expr(Expr::Lit(literal), None)] => match &literal.lit {
            syn::Lit::Bool(value) => Some(value.value.to_string()),
            _ => None,
        },
        [Stmt::Expr(Expr::Path(path), None)] => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

/// Functions whose calls change nothing but speed, a count for tests, or what a model checker sees.
const WITHOUT_EFFECT: [&str; 5] = ["count_call", "look_away", "prefetch_for_write", "spin_loop", "window"];

/// Whether a program does the same without this call.
fn has_no_effect(expression: &Expr) -> bool {
    match expression {
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => {
                let name = path.path.segments.last().map(|segment| segment.ident.to_string());
                WITHOUT_EFFECT.contains(&name.unwrap_or_default().as_str())
            }
            _ => false,
        },
        // Of the race checks in `sync`.
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            call.args.is_empty() && (name == "read" || name == "written")
        }
        _ => false,
    }
}

fn first_name(result: &Type) -> Option<String> {
    match result {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string().replace(' ', "");
            text.split(['(', ')', ',']).any(|word| word == "test") && !text.contains("not(test)")
        }
        _ => false,
    })
}

/// A condition that binds names cannot be put in parentheses. A condition with a `cfg!` has to stay a constant:
/// otherwise the code that it leaves out would take stack.
fn is_bound(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Macro(called) => called.mac.path.is_ident("cfg"),
        Expr::Paren(inner) => is_bound(&inner.expr),
        Expr::Unary(unary) => is_bound(&unary.expr),
        Expr::Binary(both) => is_bound(&both.left) || is_bound(&both.right),
        _ => false,
    }
}

/// Where something begins, with its attributes and documentation.
fn start_of(part: &impl Spanned) -> usize {
    part.span().byte_range().start
}

fn is_integer_method(name: &str) -> bool {
    name.starts_with("wrapping_") || name.starts_with("saturating_") || matches!(name, "fetch_add" | "fetch_sub")
}

impl<'a> Visit<'a> for Places {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let attributes = match item {
            syn::Item::Const(_)
            | syn::Item::Static(_)
            | syn::Item::Macro(_)
            | syn::Item::Enum(_)
            | syn::Item::Struct(_)
            | syn::Item::Use(_) => return,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        let body = item.brace_token.span.open().byte_range().start;
        self.item(start_of(item)..body, |places| visit::visit_item_impl(places, item));
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        let body = item.brace_token.span.open().byte_range().start;
        self.item(start_of(item)..body, |places| visit::visit_item_trait(places, item));
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(start_of(item), &item.sig, &item.attrs, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(start_of(item), &item.sig, &item.attrs, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(start_of(item), &item.sig, &item.attrs, block);
        }
    }

    fn visit_impl_item_const(&mut self, _: &'a syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'a syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'a syn::ExprConst) {}
    fn visit_type(&mut self, _: &'a Type) {}
    fn visit_pat(&mut self, _: &'a syn::Pat) {}
    fn visit_attribute(&mut self, _: &'a Attribute) {}
    fn visit_path(&mut self, _: &'a syn::Path) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'a syn::AngleBracketedGenericArguments) {}

    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.statement(start_of(statement), |places| {
            if let Stmt::Expr(expression, Some(_)) = statement {
                let kind = match expression {
                    Expr::Call(_) | Expr::MethodCall(_) if has_no_effect(expression) => None,
                    Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) | Expr::Unsafe(_) => Some("not done"),
                    Expr::Binary(_) => Some("not done"),
                    Expr::Return(_) => Some("does not return"),
                    Expr::Break(_) => Some("does not break"),
                    Expr::Continue(_) => Some("does not continue"),
                    _ => None,
                };
                if let Some(kind) = kind {
                    let range = statement.span().byte_range();
                    places.around(kind, range, "if !crate::mutant::is(#) { ", " }");
                }
            }
            visit::visit_stmt(places, statement);
        });
    }

    fn visit_expr_if(&mut self, condition: &'a syn::ExprIf) {
        self.condition(&condition.cond, true);
        visit::visit_expr_if(self, condition);
    }

    /// The condition does not become true: the loop would not end.
    fn visit_expr_while(&mut self, repeated: &'a syn::ExprWhile) {
        self.condition(&repeated.cond, false);
        visit::visit_expr_while(self, repeated);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        if is_test(&arm.attrs) {
            return;
        }
        self.statement(start_of(arm), |places| {
            if let Some((_, guard)) = &arm.guard {
                places.condition(guard, true);
            }
            visit::visit_arm(places, arm);
        });
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        if matches!(unary.op, syn::UnOp::Not(_)) {
            let range = unary.span().byte_range();
            if !is_bound(&unary.expr) && !self.conditions.contains(&(range.start, range.end)) {
                self.around("negated", range, "((", ") ^ crate::mutant::is(#))");
            }
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if is_integer_method(&call.method.to_string())
            && let Some(argument) = call.args.first()
        {
            self.around("off by one", argument.span().byte_range(), "crate::mutant::off(#, ", ")");
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        let range = binary.span().byte_range();
        let exchanged = match binary.op {
            BinOp::Add(_) => Some(("- for +", "add")),
            BinOp::Sub(_) => Some(("+ for -", "sub")),
            BinOp::Lt(_) => Some(("<= for <", "lt")),
            BinOp::Le(_) => Some(("< for <=", "le")),
            BinOp::Gt(_) => Some((">= for >", "gt")),
            BinOp::Ge(_) => Some(("> for >=", "ge")),
            _ => None,
        };
        match binary.op {
            BinOp::And(_) | BinOp::Or(_) => {
                self.condition(&binary.left, true);
                self.condition(&binary.right, true);
            }
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                // The condition of a loop is in `conditions` already, so it does not become true here either.
                let whole = Expr::Binary(binary.clone());
                self.condition(&whole, true);
            }
            BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::Shl(_)
            | BinOp::Shr(_) => {
                self.around("off by one", range.clone(), "crate::mutant::off(#, ", ")");
            }
            BinOp::AddAssign(_) | BinOp::SubAssign(_) => {
                self.around("off by one", binary.right.span().byte_range(), "crate::mutant::off(#, ", ")");
            }
            _ => {}
        }
        if let Some((kind, function)) = exchanged {
            let operator = Some(binary.op.span().byte_range());
            self.push(kind, range, &format!("crate::mutant::{function}(#, "), ")", operator);
        }
        visit::visit_expr_binary(self, binary);
    }
}
